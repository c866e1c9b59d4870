import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock } from '../testing/virtual-clock.ts';
import { Inbox } from './inbox.ts';

const { signal } = new AbortController();

test('what is there comes at once and in order, what is not is waited for', async () => {
  const clock = new VirtualClock();
  const inbox = new Inbox<number>();
  inbox.push(1);
  inbox.push(2);
  assert.deepEqual([await inbox.next(clock, 0, signal), await inbox.next(clock, 0, signal)], [1, 2]);
  const waiting = inbox.next(clock, 100, signal);
  await clock.pass(50);
  inbox.push(3);
  assert.equal(await waiting, 3);
  assert.equal(clock.now(), 50);
});

test('nothing has come by the deadline', async () => {
  const clock = new VirtualClock();
  assert.equal(await clock.run(new Inbox<number>().next(clock, 100, signal)), undefined);
  assert.equal(clock.now(), 100);
});

test('a wait can be given up', async () => {
  const clock = new VirtualClock();
  const giving = new AbortController();
  const waiting = new Inbox<number>().next(clock, 100, giving.signal);
  giving.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(new Inbox<number>().next(clock, 100, giving.signal), /enough/);
});

test('a reader gets what came in before it failed, and then the reason', async () => {
  const clock = new VirtualClock();
  const inbox = new Inbox<number>();
  inbox.push(1);
  inbox.fail(new Error('down'));
  inbox.fail(new Error('again'));
  assert.equal(await inbox.next(clock, 100, signal), 1);
  await assert.rejects(inbox.next(clock, 100, signal), /down/);
  const other = new Inbox<number>();
  const waiting = assert.rejects(other.next(clock, 100, signal), /down/);
  other.fail(new Error('down'));
  await waiting;
});
