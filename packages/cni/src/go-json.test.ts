import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareUtf8, goJson, goJsonIndented, sortMembers } from './go-json.ts';
import { parseJson } from './json.ts';

test('members are sorted at every level, and the text is compact', () => {
  assert.equal(
    goJson({ b: [{ z: 1, a: null }], a: { y: true, x: 'é' } }),
    '{"a":{"x":"é","y":true},"b":[{"a":null,"z":1}]}',
  );
  assert.equal(goJson({ b: undefined, a: [undefined] }), '{"a":[null]}');
});

test("strings are escaped as Go's encoder does", () => {
  assert.equal(goJson({ '<': '>&\u2028\u2029"\\' }), '{"\\u003c":"\\u003e\\u0026\\u2028\\u2029\\"\\\\"}');
  assert.equal(goJsonIndented({ a: ['<'] }), '{\n    "a": [\n        "\\u003c"\n    ]\n}');
});

test('long integers are written in full', () => {
  assert.equal(goJson({ rate: 18446744073709551615n }), '{"rate":18446744073709551615}');
});

test('order is that of UTF-8 bytes', () => {
  const buffers = (a: string, b: string) => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));
  assert.equal(Math.sign(compareUtf8('\uffee', '\u{1f600}')), buffers('\uffee', '\u{1f600}'));
  const text = fc.string({ unit: 'binary' });
  fc.assert(fc.property(text, text, (a, b) => assert.equal(Math.sign(compareUtf8(a, b)), buffers(a, b))));
});

test('what was written reads back equal, in any order of members', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = goJson(value);
      assert.equal(goJson(parseJson(text)), text);
      assert.equal(goJson(JSON.parse(JSON.stringify(value))), text);
      assert.equal(goJson(sortMembers(value)), text);
    }),
  );
});

test('a member named __proto__ is data', () => {
  const value = parseJson('{"__proto__":{"a":1}}');
  assert.equal(goJson(value), '{"__proto__":{"a":1}}');
  assert.equal(goJson(sortMembers(value)), '{"__proto__":{"a":1}}');
});
