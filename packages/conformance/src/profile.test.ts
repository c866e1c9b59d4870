import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, DecodeError } from '@heddle/cni';
import { excuseFor, parseProfile } from './profile.ts';

const KNOWN = ['gc', 'gc/empty-list', 'gc/twice', 'status'];

test('a suite, or one check, is not claimed, with its reason', () => {
  const text = JSON.stringify({
    unclaimed: [
      { check: 'status', reason: 'to come' },
      { check: 'gc/twice', reason: 'keeps no state' },
    ],
  });
  const profile = parseProfile(text, 'p.json', KNOWN);
  assert.equal(excuseFor(profile, 'gc/twice'), 'keeps no state');
  assert.equal(excuseFor(profile, 'status/ready'), 'to come');
  assert.equal(excuseFor(profile, 'gc/empty-list'), undefined);
});

test('an excuse needs a reason, and a check that there is', () => {
  const parse = (unclaimed: unknown) => () => parseProfile(JSON.stringify({ unclaimed }), 'p.json', KNOWN);
  assert.throws(parse([{ check: 'gc' }]), ConfigError);
  assert.throws(parse([{ check: 'gc', reason: ' ' }]), /must say why/);
  assert.throws(parse([{ check: 'gcc', reason: 'x' }]), /p\.json: there is no check or suite called "gcc"/);
  assert.throws(() => parseProfile('{', 'p.json', KNOWN), DecodeError);
  assert.throws(() => parseProfile('[]', 'p.json', KNOWN), /p\.json/);
});
