import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { basename, dirname, isAbsolute, join, normalize } from './path.ts';

const path = fc
  .array(fc.constantFrom('/', '.', '..', 'a', 'b.c', ' '), { maxLength: 9 })
  .map((parts) => parts.join(''));

test('paths are taken apart and put together as Node.js does', () => {
  fc.assert(
    fc.property(path, path, (one, other) => {
      assert.equal(normalize(one), posix.normalize(one));
      assert.equal(join(one, other), posix.join(one, other));
      // Node.js keeps two slashes at the start apart from one.
      const plain = posix.normalize(one);
      assert.equal(dirname(plain), posix.dirname(plain));
      assert.equal(basename(plain), posix.basename(plain));
      assert.equal(isAbsolute(one), posix.isAbsolute(one));
    }),
    { numRuns: 3000 },
  );
});
