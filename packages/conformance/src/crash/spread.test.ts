import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spread } from './spread.ts';

test('some of many are the first, the last, and others at equal distances', () => {
  const items = Array.from({ length: 30 }, (_, at) => at + 1);
  assert.deepEqual(spread(items, 4), [1, 11, 20, 30]);
  assert.deepEqual(spread(items, 2), [1, 30]);
  assert.deepEqual(spread(items, 1), [1]);
  assert.deepEqual(spread(items, 30), items);
  assert.deepEqual(spread([1, 2], 8), [1, 2]);
  for (let length = 1; length <= 30; length++) {
    for (let most = 2; most < 12; most++) {
      const some = spread(items.slice(0, length), most);
      assert.equal(some.length, Math.min(length, most), `${most} of ${length}`);
      assert.equal(some.at(-1), length);
    }
  }
});
