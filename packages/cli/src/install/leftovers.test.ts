import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { OWN_TABLES } from './leftovers.ts';

test('the tables that a purge removes are those that docs/numbers.md lists', () => {
  const page = readFileSync(new URL('../../../../docs/numbers.md', import.meta.url), 'utf8');
  const section = page.slice(page.indexOf('## Tables'), page.indexOf('## Base chains'));
  const listed = [...section.matchAll(/\| `(\S+) (\S+)` +\|/g)].map(([, family, name]) => ({ family, name }));
  assert.deepEqual(OWN_TABLES, listed);
});
