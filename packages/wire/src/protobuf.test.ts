import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decode, encode } from './codec.ts';
import {
  bigint64,
  embedded,
  int64,
  protoBool,
  protoBytes,
  protoMessage,
  protoText,
  several,
} from './protobuf.ts';

const inner = protoMessage('Inner', { text: [1, protoText], list: [2, several(protoText)] });
const outer = protoMessage('Outer', {
  count: [1, int64],
  id: [2, bigint64],
  yes: [3, protoBool],
  raw: [4, protoBytes],
  one: [16, embedded(inner)],
  many: [17, several(embedded(inner))],
});

test('the examples of the format’s own documentation', () => {
  const number = protoMessage('Test1', { a: [1, int64] });
  const text = protoMessage('Test2', { b: [2, protoText] });
  const nested = protoMessage('Test3', { c: [3, embedded(number)] });
  assert.deepEqual([...encode(number, { a: 150 })], [0x08, 0x96, 0x01]);
  assert.deepEqual([...encode(text, { b: 'testing' })], [0x12, 0x07, ...Buffer.from('testing')]);
  assert.deepEqual([...encode(nested, { c: { a: 150 } })], [0x1a, 0x03, 0x08, 0x96, 0x01]);
  assert.deepEqual([...encode(number, { a: -2 })], [0x08, 0xfe, ...Array(8).fill(0xff), 0x01]);
  assert.deepEqual(decode(nested, Uint8Array.of(0x1a, 0x03, 0x08, 0x96, 0x01)), { c: { a: 150 } });
});

test('what was written is read', () => {
  const plain = { noNullPrototype: true };
  const text = fc.string({ unit: 'binary' });
  const innerValue = fc.record({ text, list: fc.array(text) }, plain);
  const value = fc.record(
    {
      count: fc.maxSafeInteger(),
      id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      yes: fc.boolean(),
      raw: fc.uint8Array(),
      one: fc.option(innerValue, { nil: undefined }),
      many: fc.array(innerValue),
    },
    plain,
  );
  fc.assert(fc.property(value, (given) => assert.deepEqual(decode(outer, encode(outer, given)), given)));
});

test('what is not there is empty, what is given is there, and what is unknown is passed over', () => {
  const empty = { count: 0, id: 0n, yes: false, raw: new Uint8Array(), one: undefined, many: [] };
  assert.deepEqual(decode(outer, new Uint8Array()), empty);
  assert.deepEqual([...encode(outer, { count: 0 })], [0x08, 0x00]);
  const strange = [
    0xf8,
    0x01,
    0x05,
    0x09,
    ...Array(8).fill(1),
    0x2d,
    1,
    2,
    3,
    4,
    0x32,
    0x01,
    0x00,
    0x18,
    0x01,
  ];
  const later = protoMessage('Later', { yes: [3, protoBool] });
  assert.deepEqual(decode(later, Uint8Array.from(strange)), { yes: true });
});

test('malformed bytes are an error, never anything else', () => {
  const malformed = { code: 'WIRE_MALFORMED' };
  for (const bytes of [[0x08], [0x22, 0x05, 0x01], [0x0f], [0x0a, 0x00], [0x08, ...Array(11).fill(0xff)]]) {
    assert.throws(() => decode(outer, Uint8Array.from(bytes)), malformed, String(bytes));
  }
  assert.throws(() => decode(outer, encode(outer, { id: 1n }).with(0, 0x08).with(1, 0x80)), malformed);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        decode(outer, bytes);
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'WIRE_MALFORMED');
      }
    }),
  );
});
