import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from './coded-error.ts';

class LeaseError extends CodedError<'LEASE_GONE' | 'LEASE_TAKEN'> {}
class OtherError extends CodedError<'LEASE_GONE'> {}

test('an error has the code that it was made with, and all that any error has', () => {
  const cause = new Error('ENOENT');
  const error = new LeaseError('LEASE_GONE', 'renew 10.0.0.1: it is gone', { cause, hint: 'add it anew' });
  assert.equal(error.code, 'LEASE_GONE');
  assert.equal(error.name, 'LeaseError');
  assert.equal(error.message, 'renew 10.0.0.1: it is gone');
  assert.equal(error.cause, cause);
  assert.equal(error.hint, 'add it anew');
});

test('it is known by its class and its code', () => {
  const error: unknown = new LeaseError('LEASE_GONE', 'renew 10.0.0.1: it is gone');
  assert.ok(LeaseError.is(error, 'LEASE_GONE'));
  assert.ok(LeaseError.is(error, 'LEASE_TAKEN', 'LEASE_GONE'));
  assert.ok(LeaseError.is(error));
  assert.ok(!LeaseError.is(error, 'LEASE_TAKEN'));
  assert.ok(!OtherError.is(error));
  assert.ok(!OtherError.is(error, 'LEASE_GONE'));
  assert.ok(!LeaseError.is('LEASE_GONE', 'LEASE_GONE'));
});
