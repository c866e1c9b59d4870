import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { test } from 'node:test';
import { readToEnd, writeBestEffort, writeWhole } from './descriptors.ts';

test('a disk that is full costs the answer, and that is an error; what is said beside it may get lost', () => {
  const full = openSync('/dev/full', 'w');
  try {
    assert.throws(() => writeWhole(full, 'answer'), { code: 'ENOSPC' });
    writeWhole(full, '');
    writeBestEffort(full, 'warning');
  } finally {
    closeSync(full);
  }
  writeWhole(full, 'nobody reads this');
});

test('a directory on stdin is an error', () => {
  const directory = openSync('/', 'r');
  try {
    assert.throws(() => readToEnd(directory), { code: 'EISDIR' });
  } finally {
    closeSync(directory);
  }
});
