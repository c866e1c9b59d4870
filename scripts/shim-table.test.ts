import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SHIM_TABLE, shimTable } from './shim-table.ts';

test("the shim's table of plugins is current; scripts/write-shim-table.ts writes it", async () => {
  assert.equal(readFileSync(SHIM_TABLE, 'utf8'), await shimTable());
});
