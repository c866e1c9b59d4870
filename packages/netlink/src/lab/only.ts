import assert from 'node:assert/strict';

/** The only element of a list. */
export function only<T>(list: readonly T[]): T {
  const [first, ...others] = list;
  assert.ok(first !== undefined && others.length === 0, `one is expected, not ${list.length}`);
  return first;
}
