import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deferred } from './deferred.ts';

class Counter {
  #count = 0;

  async add(by: number): Promise<number> {
    this.#count += by;
    return this.#count;
  }
}

test('the object is made by the first call, and is the same for all', async () => {
  let made = 0;
  const counter = deferred(async () => {
    made++;
    return new Counter();
  });
  assert.equal(await counter, counter);
  assert.equal(made, 0);
  assert.deepEqual(await Promise.all([counter.add(1), counter.add(2)]), [1, 3]);
  assert.equal(made, 1);
});

test('what keeps it from being made is the answer of its methods', async () => {
  const broken = deferred<Counter>(async () => {
    throw new Error('not here');
  });
  await assert.rejects(broken.add(1), /not here/);
});
