import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freeTables } from './route-tables.ts';

test('tables are free when nobody has them and the system does not either', () => {
  assert.deepEqual(freeTables(100, 3, new Set([101, 255, 7])), [100, 102, 103]);
  assert.deepEqual(freeTables(251, 3, new Set()), [251, 252, 256]);
  assert.deepEqual(freeTables(100, 0, new Set()), []);
});
