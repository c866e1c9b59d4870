import assert from 'node:assert/strict';
import { test } from 'node:test';
import { perObject } from './per-object.ts';

test('a value is worked out once for each object, whatever it is, and anew after a failure', () => {
  let count = 0;
  const sizeOf = perObject((list: readonly number[]) => {
    count++;
    if (list.includes(13)) throw new Error('unlucky');
    return list.length === 0 ? undefined : list.length;
  });
  const [some, none, bad] = [[1, 2], [], [13]];
  assert.deepEqual([sizeOf(some), sizeOf(some), sizeOf([1, 2])], [2, 2, 2]);
  assert.deepEqual([sizeOf(none), sizeOf(none)], [undefined, undefined]);
  assert.equal(count, 3);
  assert.throws(() => sizeOf(bad), /unlucky/);
  assert.throws(() => sizeOf(bad), /unlucky/);
});
