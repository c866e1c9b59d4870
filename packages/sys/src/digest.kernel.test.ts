import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { sha512 } from './digest.ts';

test('the digest of any text is the one that the runtime computes', () => {
  const expected = (text: string) => createHash('sha512').update(text).digest('hex');
  // The end takes a block of its own where fewer than 17 bytes are left.
  for (const length of [0, 1, 111, 112, 127, 128, 239, 240, 100_000]) {
    const text = 'x'.repeat(length);
    assert.equal(sha512(text), expected(text), `${length} bytes`);
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      assert.equal(sha512(text), expected(text));
    }),
  );
});
