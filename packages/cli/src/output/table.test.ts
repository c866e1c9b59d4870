import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatAge } from './age.ts';
import { formatFacts, formatTable } from './table.ts';
import { wrap } from './wrap.ts';

interface Row {
  readonly name: string;
  readonly size: string;
}
const COLUMNS = [
  { title: 'NAME', value: ({ name }: Row) => name },
  { title: 'SIZE', value: ({ size }: Row) => size, align: 'right' },
] as const;

describe('a table', () => {
  test('lines columns up, and ends lines where their text ends', () => {
    const rows = [
      { name: 'a', size: '1' },
      { name: 'longer', size: '100' },
    ];
    assert.equal(formatTable(COLUMNS, rows, false), 'NAME     SIZE\na           1\nlonger    100\n');
  });

  test('shows nothing as a dash', () => {
    assert.equal(formatTable(COLUMNS, [{ name: '', size: '1' }], false), 'NAME   SIZE\n-         1\n');
  });

  test('counts characters, not halves of them', () => {
    const [titles = '', row = ''] = formatTable(COLUMNS, [{ name: '𝕏𝕐𝕫𝕩𝕒', size: '2' }], false).split('\n');
    assert.equal(titles, 'NAME    SIZE');
    assert.equal(row, '𝕏𝕐𝕫𝕩𝕒      2');
  });

  test('shows names that would take over the terminal as harmless text', () => {
    const rows = [{ name: 'a\u001b[2J\nb', size: '1' }];
    assert.equal(formatTable(COLUMNS, rows, false), 'NAME            SIZE\na\\x1b[2J\\x0ab      1\n');
  });

  test('has styled titles only on a terminal', () => {
    assert.ok(formatTable(COLUMNS, [], true).startsWith('\u001b[2mNAME'));
    assert.ok(!formatTable(COLUMNS, [], false).includes('\u001b'));
  });
});

test('facts line up behind their names', () => {
  assert.equal(
    formatFacts(
      [
        ['a', '1'],
        ['long', '2\n3'],
        ['b', ''],
      ],
      false,
    ),
    'a      1\nlong   2\n       3\nb      -\n',
  );
});

const AGES: readonly (readonly [seconds: number, text: string])[] = [
  [-5, '0s'],
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [7199, '119m'],
  [7200, '2h'],
  [172_799, '47h'],
  [172_800, '2d'],
];
for (const [seconds, text] of AGES) {
  test(`${seconds} seconds are ${text}`, () => assert.equal(formatAge(seconds * 1000), text));
}

test('text wraps between words, and a long word stays whole', () => {
  assert.equal(wrap('one two three', 7), 'one two\nthree');
  assert.equal(wrap('a incomprehensible b', 5), 'a\nincomprehensible\nb');
  assert.equal(wrap('', 5), '');
});
