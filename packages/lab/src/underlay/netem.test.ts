import assert from 'node:assert/strict';
import { test } from 'node:test';
import { netemOptions } from './netem.ts';

test('delay in ticks of 64 ns, loss as a share of 2^32 - 1', () => {
  const words = new Uint32Array(netemOptions({ delay: 100, loss: 0.5 }).slice().buffer);
  assert.deepEqual([...words], [1_562_500, 100_000, 2_147_483_648, 0, 0, 0]);
});
