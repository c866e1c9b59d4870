import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PLUGINS } from '@heddle/plugins';

const rows = [
  ...readFileSync('docs/testing.md', 'utf8').matchAll(/^\| ([a-z-]+) \| [^|]+ \| (`[^|]+`) \|$/gm),
];

test('the table of docs/testing.md has each plugin that the reference has, and only files that are there', () => {
  const named = new Set(rows.map(([, plugin = '']) => plugin));
  const unnamed = [...PLUGINS.keys()].filter((plugin) => !named.has(plugin));
  assert.deepEqual(unnamed, ['flannel', 'heddle', 'heddle-ipam']);
  const files = rows.flatMap(([, , cell = '']) => cell.split(', ').map((file) => file.replaceAll('`', '')));
  const paths = files.map((file) =>
    /^(test|packages)\//.test(file) ? file : `packages/plugins/src/${file}`,
  );
  assert.deepEqual(
    paths.filter((path) => !existsSync(path)),
    [],
  );
});
