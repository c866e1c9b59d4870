import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSelector } from './selector.ts';

const labels = { zone: 'a', 'kubernetes.io/os': 'linux', gpu: '' };
const matches = (text: string) => parseSelector(text, (why) => new Error(why))(labels);

test('what is selected', () => {
  for (const text of [
    'all()',
    'has(zone)',
    'has(gpu) && !has(disk)',
    "zone == 'a'",
    'zone == "a"',
    "zone != 'b'",
    "disk != 'x'",
    "zone in {'b', 'a'}",
    "disk not in {'x'}",
    'zone not in {}',
    "kubernetes.io/os=='linux'",
    "zone == 'b' || zone == 'a' && has(gpu)",
    "!(zone == 'b' || has(disk))",
    '!!has(zone)',
  ]) {
    assert.equal(matches(text), true, text);
  }
  for (const text of [
    '!all()',
    'has(toString)',
    "zone == 'A'",
    "disk == ''",
    'zone in {}',
    "disk in {'x'}",
    "(zone == 'b' || zone == 'a') && has(disk)",
  ]) {
    assert.equal(matches(text), false, text);
  }
});

test('what is no selector, and where', () => {
  for (const [text, why] of [
    ['', 'expected a label, found the end at character 1'],
    ['zone', 'expected ==, !=, in or not in, found the end at character 5'],
    ['zone == a', 'expected a value in quotes, found "a" at character 9'],
    ['all() all()', 'expected &&, || or the end, found "all()" at character 7'],
    ['(all()', 'expected ), found the end at character 7'],
    ["zone in {'a'", 'expected }, found the end at character 13'],
    ["zone == 'a", `expected a value in quotes, found "'a" at character 9`],
  ] as const) {
    assert.throws(() => matches(text), { message: why });
  }
});
