import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AbortController, AbortSignal } from './abort.ts';
import type { Host } from './host.ts';
import { clearTimer, setTimer } from './timers.ts';
import { setTimeout as sleep } from './timers-promises.ts';

const END = -2;
let now = 0;
let isHeld = false;

describe('timers of the host', () => {
  before(() => {
    globalThis.host = { now: () => now, runJobs: () => {}, isHeld: () => isHeld } as unknown as Host;
  });
  after(() => {
    Reflect.deleteProperty(globalThis, 'host');
  });

  /** Lets the time pass, and serves what is due. */
  function pass(milliseconds: number): number | undefined {
    now += milliseconds;
    return host.serveTimers?.();
  }

  test('timers are served in their order, also those that others set, and not those that others clear', () => {
    const calls: string[] = [];
    setTimer(() => {
      calls.push('first');
      clearTimer(cleared);
      setTimer(() => calls.push('from the first'), 10);
    }, 20);
    const cleared = setTimer(() => calls.push('cleared'), 21);
    setTimer(() => calls.push('second'), 20);
    assert.equal(pass(5), 15);
    assert.equal(pass(20), 10);
    assert.deepEqual(calls, ['first', 'second']);
    assert.equal(pass(10), END);
    assert.deepEqual(calls, ['first', 'second', 'from the first']);
  });

  test('a timer that is not held ends nothing and keeps nothing', () => {
    let called = false;
    setTimer(() => {
      called = true;
    }, 50).unref();
    assert.equal(pass(0), END);
    isHeld = true;
    assert.equal(pass(0), 50);
    assert.equal(pass(50), -1);
    isHeld = false;
    assert.equal(called, true);
  });

  test('waiting ends in time, or when it is given up', async () => {
    const waited = sleep(30, 'value');
    pass(30);
    assert.equal(await waited, 'value');
    const controller = new AbortController();
    const givenUp = sleep(30, undefined, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await assert.rejects(givenUp, { name: 'AbortError', cause: new Error('enough') });
    await assert.rejects(sleep(1, undefined, { signal: controller.signal }), { name: 'AbortError' });
    assert.equal(pass(30), END);
  });

  test('a signal follows others, and the time', () => {
    const controller = new AbortController();
    const any = AbortSignal.any([controller.signal, AbortSignal.timeout(40)]);
    let told = 0;
    any.addEventListener('abort', () => told++, { once: true });
    isHeld = true;
    pass(40);
    isHeld = false;
    assert.equal(any.aborted, true);
    assert.throws(() => any.throwIfAborted(), { name: 'TimeoutError' });
    controller.abort();
    assert.equal(told, 1);
    assert.equal(AbortSignal.any([AbortSignal.abort('why')]).reason, 'why');
  });
});
