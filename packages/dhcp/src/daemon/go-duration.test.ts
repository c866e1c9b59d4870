import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatGoDuration, parseGoDuration } from './go-duration.ts';

test('durations as Go takes them', () => {
  for (const [text, milliseconds] of [
    ['0', 0],
    ['10s', 10_000],
    ['500ms', 500],
    ['1m30s', 90_000],
    ['1h0m1s', 3_601_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['1.s', 1000],
    ['+2s', 2000],
    ['-2s', -2000],
    ['100us', 0.1],
    ['100µs', 0.1],
    ['1ms1ms', 2],
  ] as const) {
    assert.equal(parseGoDuration(text), milliseconds, text);
  }
});

test('what Go refuses', () => {
  for (const text of [
    '',
    '5',
    '10',
    's',
    '1x',
    '1 s',
    ' 1s',
    '1s ',
    '.s',
    '--1s',
    '1s2',
    'Infinitys',
    '1e3s',
  ]) {
    assert.equal(parseGoDuration(text), undefined, text);
  }
});

test('durations for people', () => {
  assert.deepEqual([Infinity, 200, 1000, 62_000, 208_000, 3_600_000].map(formatGoDuration), [
    'ever',
    '200ms',
    '1s',
    '1m2s',
    '3m28s',
    '1h0m0s',
  ]);
});

test('whole seconds that are written are read again', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), (seconds) => {
      assert.equal(parseGoDuration(formatGoDuration(seconds * 1000)), seconds * 1000);
    }),
  );
});
