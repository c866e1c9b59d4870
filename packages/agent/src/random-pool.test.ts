import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RandomPool } from './random-pool.ts';

test('as many bytes as are asked for, and never the same again', () => {
  const random = new RandomPool();
  const seen = new Set<string>();
  for (let turn = 0; turn < 2000; turn++) {
    const bytes = random.bytes(12);
    assert.equal(bytes.length, 12);
    seen.add(Buffer.from(bytes).toString('hex'));
  }
  assert.equal(seen.size, 2000);
  assert.equal(random.bytes(5000).length, 5000);
  assert.equal(random.bytes(0).length, 0);
});

test('what was given out stays as it is', () => {
  const random = new RandomPool();
  const first = random.bytes(8);
  const before = [...first];
  for (let turn = 0; turn < 500; turn++) random.bytes(64);
  assert.deepEqual([...first], before);
});
