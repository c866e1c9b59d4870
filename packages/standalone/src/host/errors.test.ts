import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as node from 'node:util';
import { getSystemErrorMessage, getSystemErrorName, systemError } from './errors.ts';

test('the texts of error numbers are those of Node.js', () => {
  for (const [errno, [name, text]] of node.getSystemErrorMap()) {
    // Numbers that only libuv has.
    if (errno < -200) continue;
    // The system's own name for the number.
    assert.equal(getSystemErrorName(errno), name === 'ENOTSUP' ? 'EOPNOTSUPP' : name);
    assert.equal(getSystemErrorMessage(errno), text, name);
  }
});

test('a failed call is reported as Node.js does', () => {
  const path = '/none/file';
  assert.throws(
    () => readFileSync(path),
    (error) => {
      const ours = systemError(2, 'open', path);
      assert.equal(ours.message, (error as Error).message);
      assert.deepEqual({ ...ours }, { ...(error as Error) });
      return true;
    },
  );
});
