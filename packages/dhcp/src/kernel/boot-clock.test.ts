import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootClock, bootId } from './boot-clock.ts';

test('time passes, and is the same for everybody', async () => {
  const { signal } = new AbortController();
  const before = bootClock.now();
  await bootClock.sleep(30, signal);
  const after = bootClock.now();
  assert.ok(after > before && before > 0);
  await bootClock.sleep(0, signal);
  await bootClock.sleep(-5, signal);
});

test('whoever sleeps, for however long, can be woken, and hears why', async () => {
  for (const milliseconds of [1000, 1e12, Infinity]) {
    const waking = new AbortController();
    const asleep = bootClock.sleep(milliseconds, waking.signal);
    waking.abort(new Error('get up'));
    await assert.rejects(asleep, /^Error: get up$/);
  }
  await assert.rejects(bootClock.sleep(0, AbortSignal.abort(new Error('get up'))), /^Error: get up$/);
});

test('this run of the machine has a name', () => {
  assert.match(bootId(), /^[0-9a-f-]{36}$/);
});
