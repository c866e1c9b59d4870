import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StepLog, stepTimes } from './steps.ts';

test('steps that overlap count once', async () => {
  let now = 0;
  const log = new StepLog(() => now);
  const first = log.begin('kernel');
  now = 2;
  const second = log.begin('kernel');
  now = 5;
  first();
  now = 6;
  second();
  now = 10;
  await assert.rejects(
    log.around('turn', async () => {
      now = 13;
      throw new Error('no');
    }),
  );
  assert.deepEqual(
    [...stepTimes(log.steps)],
    [
      ['kernel', 6],
      ['turn', 3],
    ],
  );
});
