import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PLUGINS } from '@heddle/plugins';

const [, ...sections] = readFileSync('docs/differences.md', 'utf8').split(/^## /m);
const parsed = sections.map((text) => {
  const [heading = '', ...lines] = text.trimEnd().split('\n');
  return { heading, lines };
});

test('docs/differences.md has a section for each plugin that differs, in order, and no other', () => {
  const headings = parsed.map(({ heading }) => heading);
  assert.deepEqual(headings, [...new Set(headings)].sort());
  const names = headings.flatMap((heading) => heading.split(', ')).filter((name) => name !== 'all plugins');
  assert.deepEqual(
    names.filter((name) => !PLUGINS.has(name)),
    [],
  );
  // What the reference has nothing like.
  const own = ['heddle', 'heddle-ipam'];
  assert.deepEqual(
    [...PLUGINS.keys()].filter((type) => !names.includes(type)),
    own,
  );
});

test('each section of docs/differences.md is one table with three cells in a row', () => {
  for (const { heading, lines } of parsed) {
    assert.deepEqual(lines.slice(0, 3), ['', '| the reference | Heddle | why |', '|---|---|---|'], heading);
    const bad = lines.slice(3).filter((line) => !/^\|( [^|]*[^| ] \|){3}$/.test(line));
    assert.deepEqual(bad, [], heading);
  }
});
