import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BenchError } from './bench-error.ts';
import { decodeTexts, encodeTexts, firstText } from './texts.ts';

test('texts come back as they went in, lists inside lists too', () => {
  const inner = encodeTexts(['a', '', 'ü:,5:']);
  const [number, list, bytes] = decodeTexts(encodeTexts([17, inner, new Uint8Array([0, 255])]));
  assert.equal(number?.toString(), '17');
  assert.deepEqual(decodeTexts(list ?? Buffer.alloc(0)).map(String), ['a', '', 'ü:,5:']);
  assert.deepEqual([...(bytes ?? [])], [0, 255]);
});

test('a list is written as netstrings', () => {
  assert.equal(encodeTexts(['hello', '', 7]).toString(), '5:hello,0:,1:7,');
});

test('a text that is not complete is waited for', () => {
  const whole = encodeTexts(['hello']);
  for (let length = 0; length < whole.length; length++) {
    assert.equal(firstText(whole.subarray(0, length)), undefined, `${length} bytes`);
  }
  assert.deepEqual(firstText(whole), { start: 2, end: 7 });
});

test('what is no list is refused', () => {
  for (const text of ['5:hell', 'hello', '5:hello;', ':,']) {
    assert.throws(
      () => decodeTexts(Buffer.from(text)),
      (error) => {
        assert.ok(error instanceof BenchError);
        assert.equal(error.code, 'BENCH_DRIVER');
        return true;
      },
    );
  }
});
