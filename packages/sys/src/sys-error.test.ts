import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeddleError } from '@heddle/errors';
import { SysError } from './sys-error.ts';

test('the message says which call failed, on what and why', () => {
  const error = new SysError({ syscall: 'open', errnum: 2, path: '/x' });
  assert.equal(error.message, 'open /x: ENOENT (No such file or directory)');
  assert.equal(error.errno, 'ENOENT');
  assert.equal(error.path, '/x');
  assert.ok(error instanceof HeddleError);
  assert.equal(
    new SysError({ syscall: 'recv', errnum: 105 }).message,
    'recv: ENOBUFS (No buffer space available)',
  );
  assert.equal(
    new SysError({ syscall: 'statfs', errnum: 2, path: '' }).message,
    'statfs "": ENOENT (No such file or directory)',
  );
});

test('is() picks by error name', () => {
  const error: unknown = new SysError({ syscall: 'open', errnum: 13, path: '/x' });
  assert.ok(SysError.is(error));
  assert.ok(SysError.is(error, 'ENOENT', 'EACCES'));
  assert.ok(!SysError.is(error, 'ENOENT'));
  assert.ok(!SysError.is(new TypeError('x')));
});
