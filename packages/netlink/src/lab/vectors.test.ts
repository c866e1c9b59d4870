import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decode, encode, WireError } from '@heddle/wire';
import { readVector, VECTOR_KINDS, type Vector, vectorFiles } from './vectors.ts';

const vectors = Object.values(vectorFiles).flatMap(
  (file) => JSON.parse(readFileSync(file, 'utf8')) as readonly Vector[],
);

for (const { kind, command, hex, value } of vectors) {
  test(`what the kernel says of a ${kind} after: ${command}`, () => {
    assert.deepEqual(readVector(kind, hex), value);
  });

  test(`and it survives being written and read again (${kind} after: ${command})`, () => {
    const { codec } = VECTOR_KINDS[kind];
    const message = decode(codec, Uint8Array.from(Buffer.from(hex, 'hex')));
    const again = encode(codec, message);
    assert.deepEqual(decode(codec, again), message);
  });

  test(`and cut off anywhere it is malformed or less, nothing worse (${kind} after: ${command})`, () => {
    const { codec } = VECTOR_KINDS[kind];
    const bytes = Uint8Array.from(Buffer.from(hex, 'hex'));
    for (let length = 0; length < bytes.length; length++) {
      try {
        decode(codec, bytes.subarray(0, length));
      } catch (error) {
        assert.ok(error instanceof WireError, `at ${length}: ${error}`);
      }
    }
  });
}
