import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { test } from 'node:test';
import { errnoName, errnoNumber, errnoText } from './errno.ts';

test('names, numbers and texts belong together', () => {
  assert.equal(errnoName(2), 'ENOENT');
  assert.equal(errnoNumber('ENOENT'), 2);
  assert.equal(errnoText(2), 'No such file or directory');
  assert.equal(errnoText(117), 'Structure needs cleaning');
});

test('the table agrees with the running system', () => {
  for (const [name, errnum] of Object.entries(constants.errno)) {
    if (name === 'EWOULDBLOCK' || name === 'ENOTSUP') continue; // other names of EAGAIN and EOPNOTSUPP
    assert.equal(errnoName(errnum), name);
    assert.equal(errnoNumber(name), errnum);
  }
});

test('what leaks out of the kernel, and what nobody knows, still has a name', () => {
  assert.equal(errnoName(524), 'ENOTSUPP');
  assert.equal(errnoName(9999), 'E9999');
  assert.equal(errnoText(9999), 'Unknown error');
  assert.equal(errnoNumber('ENONSENSE'), undefined);
});
