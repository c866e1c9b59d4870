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
  assert.throws(
    parse([{ check: 'gcc', reason: 'x' }]),
    /p\.json:1:24: there is no check or suite called "gcc"/,
  );
  assert.throws(() => parseProfile('{', 'p.json', KNOWN), DecodeError);
  assert.throws(() => parseProfile('[]', 'p.json', KNOWN), /p\.json/);
});

test('what is wrong in a profile is told with file, line and column', () => {
  const lines =
    (...text: readonly string[]) =>
    () =>
      parseProfile(text.join('\n'), 'p.json', KNOWN);
  const entry = (text: string) =>
    lines('{"unclaimed": [', '  { "check": "gc", "reason": "x" },', `  ${text}`, ']}');
  assert.throws(
    entry('{ "check": "gcc", "reason": "x" }'),
    /p\.json:3:14: there is no check or suite called "gcc"/,
  );
  assert.throws(entry('{ "check": "status" }'), /p\.json:3:3: /);
  assert.throws(entry('{ "check": "status", "reason": " " }'), /p\.json:3:34: .*must say why/);
  assert.throws(entry('{ "check": 7, "reason": "x" }'), /p\.json:3:14: /);
  assert.throws(lines('{', '  "unclaimed": {}', '}'), /p\.json:2:16: /);
  assert.throws(lines('{', '  // later', '}'), /p\.json:2:3: /);
  assert.throws(lines('[]'), /p\.json:1:1: a profile is a JSON object/);
});
