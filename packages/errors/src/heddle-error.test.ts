import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeddleError } from './index.ts';

class LinkError extends HeddleError {
  override readonly code = 'LINK_GONE';
}

test('an error carries its code, its name, and what was said about it', () => {
  const cause = new Error('ENODEV');
  const error = new LinkError('delete link eth0: ENODEV', {
    cause,
    details: { ifname: 'eth0' },
    hint: 'the namespace may be gone already',
  });
  assert.ok(error instanceof HeddleError);
  assert.ok(error instanceof Error);
  assert.equal(error.name, 'LinkError');
  assert.equal(error.code, 'LINK_GONE');
  assert.equal(error.message, 'delete link eth0: ENODEV');
  assert.equal(error.cause, cause);
  assert.deepEqual(error.details, { ifname: 'eth0' });
  assert.equal(error.hint, 'the namespace may be gone already');
  assert.equal(String(error), 'LinkError: delete link eth0: ENODEV');
  assert.match(error.stack ?? '', /^LinkError: delete link eth0: ENODEV\n/);
});

test('what was not said is not there', () => {
  const error = new LinkError('delete link eth0: ENODEV');
  assert.equal(error.details, undefined);
  assert.equal(error.hint, undefined);
  assert.ok(!('cause' in error));
});

test('a falsy cause is kept', () => {
  assert.equal(new LinkError('delete link eth0', { cause: null }).cause, null);
});
