import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { commandReference } from './reference.ts';

test('docs/cli.md is what the commands say of themselves', () => {
  const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  assert.equal(page, commandReference(), 'run: npm run generate');
});
