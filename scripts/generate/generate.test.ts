import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { generatedFiles, SCHEMAS } from '../generate.ts';

test('what is made of the code is current', () => {
  const stale = [...generatedFiles()].filter(
    ([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text,
  );
  assert.deepEqual(
    stale.map(([path]) => path),
    [],
    'run: npm run generate',
  );
});

test('no schema is left of what is gone', () => {
  const made = generatedFiles();
  assert.deepEqual(
    globSync(`${SCHEMAS}/*.json`).filter((path) => !made.has(path)),
    [],
  );
});

test('every member of every plugin says what it means', () => {
  const page = generatedFiles().get('docs/plugins.md') ?? '';
  assert.deepEqual(
    page.split('\n').filter((line) => /^\| `.*\| +\|$/.test(line)),
    [],
  );
});
