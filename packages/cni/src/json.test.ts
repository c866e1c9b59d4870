import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DecodeError } from './errors.ts';
import { goJson } from './go-json.ts';
import { MAX_DEPTH, parseJson } from './json.ts';
import { describeSyntaxProblem, locate } from './json-syntax.ts';

function problem(text: string): string {
  try {
    parseJson(text, { file: 'a.conf' });
  } catch (error) {
    assert.ok(error instanceof DecodeError);
    return error.message;
  }
  assert.fail(`${text} was taken`);
}

test('what is wrong is said in words, with its place', () => {
  const cases: readonly (readonly [text: string, message: string])[] = [
    ['{"ipam":{"a":1,}}', 'a.conf:1:15: unexpected comma before }'],
    ['[1,\n2,\n]', 'a.conf:2:2: unexpected comma before ]'],
    ['', 'a.conf:1:1: unexpected end of JSON input; the text is empty'],
    [' \n ', 'a.conf:1:1: unexpected end of JSON input; the text is empty'],
    ['{"a":', 'a.conf:1:6: unexpected end of JSON input; the text stops in the middle'],
    ['{"a":1', 'a.conf:1:7: unexpected end of JSON input; the text stops in the middle'],
    ['{"a":"b', 'a.conf:1:6: unexpected end of JSON input; the string "b is not closed'],
    ['{"a":"b\n"}', 'a.conf:1:6: the string "b is not closed on its line'],
    ['{\n  // why\n  "a":1}', 'a.conf:2:3: comments are not part of JSON'],
    ['/* x */ {}', 'a.conf:1:1: comments are not part of JSON'],
    ['{"a" 1}', 'a.conf:1:6: missing colon before 1'],
    ['{"a":1 "b":2}', 'a.conf:1:8: missing comma before "b"'],
    ['{a:1}', 'a.conf:1:2: expected a member name in double quotes, got a'],
    ['{"a":tru}', 'a.conf:1:6: expected a value, got tru; texts need double quotes'],
    ['{} {"code":100}', 'a.conf:1:4: unexpected { after the end of the document'],
    ['{"a":"\\q"}', 'a.conf:1:6: unknown escape sequence in "\\q"'],
    ['{"a":"\t"}', 'a.conf:1:6: control characters in strings must be escaped'],
    ['\ufeff{}', 'a.conf:1:1: the text begins with a byte order mark, which JSON does not allow'],
  ];
  for (const [text, message] of cases) assert.equal(problem(text), message);
});

test('other encodings are recognised', () => {
  const utf16 = { le: new Uint8Array([0x7b, 0, 0x7d, 0]), be: new Uint8Array([0, 0x7b, 0, 0x7d]) };
  assert.throws(() => parseJson(utf16.le), /the text is UTF-16 \(little endian\), but JSON must be UTF-8/);
  assert.throws(() => parseJson(utf16.be), /UTF-16 \(big endian\)/);
  assert.throws(() => parseJson(new Uint8Array([0xff, 0xfe, 0x7b, 0])), /UTF-16/);
  assert.throws(() => parseJson(new Uint8Array([0xfe, 0xff, 0, 0x7b])), /UTF-16/);
  assert.throws(() => parseJson(new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d])), /byte order mark/);
});

test('whole numbers of 64 bits survive', () => {
  const text =
    '{"max":18446744073709551615,"min":-9223372036854775808,"plain":5,"float":1.5e300,"text":"9007199254740993"}';
  assert.deepEqual(parseJson(text), {
    max: 18446744073709551615n,
    min: -9223372036854775808n,
    plain: 5,
    float: 1.5e300,
    text: '9007199254740993',
  });
});

test('nesting is limited', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  parseJson(deep(MAX_DEPTH));
  assert.throws(() => parseJson(deep(MAX_DEPTH + 1)), DecodeError);
  assert.throws(() => parseJson('['.repeat(1_000_000)), DecodeError);
  parseJson(JSON.stringify({ text: '['.repeat(2 * MAX_DEPTH), escaped: '"[\\' }));
});

test('every JSON value is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json(), (text) => assert.equal(goJson(parseJson(text)), goJson(JSON.parse(text)))),
  );
});

test('a text cut off anywhere is a decode error, with a place inside it', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, at) => {
      const cut = text.slice(0, at % text.length);
      try {
        parseJson(cut);
      } catch (error) {
        assert.ok(error instanceof DecodeError);
        assert.ok(error.line !== undefined && error.column !== undefined && error.column <= cut.length + 1);
      }
    }),
  );
});

test('any text at all gives a value or a problem in words', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\/*\'ae1.-+ \n\tntf') }), (text) => {
      try {
        JSON.parse(text);
      } catch {
        const { reason, line, column } = describeSyntaxProblem(text);
        assert.notEqual(reason, '');
        assert.ok(line >= 1 && column >= 1);
      }
    }),
  );
});

test('places of values', () => {
  const text = '{\n  "name": "n",\n  "plugins": [\n    {"type": "a"},\n    {"MTU": 1, "mtu": 2}\n  ]\n}';
  assert.deepEqual(locate(text, []), { line: 1, column: 1 });
  assert.deepEqual(locate(text, ['name']), { line: 2, column: 11 });
  assert.deepEqual(locate(text, ['plugins', 0, 'type']), { line: 4, column: 14 });
  assert.deepEqual(locate(text, ['plugins', 1, 'mtu']), { line: 5, column: 23 });
  assert.deepEqual(
    locate(text, ['Plugins', 1, 'Mtu']),
    { line: 5, column: 23 },
    'in any letter case, the last',
  );
  assert.deepEqual(locate(text, ['plugins', 0, 'missing']), { line: 4, column: 5 }, 'the nearest parent');
  assert.deepEqual(locate(text, ['plugins', 7]), { line: 3, column: 14 });
});
