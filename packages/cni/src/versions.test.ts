import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DecodeError } from './errors.ts';
import { atLeast, CNI_VERSIONS, compareVersions, negotiate, parseVersion, versionsFrom } from './versions.ts';

test('a version has one to three numbers; the empty one is the first', () => {
  assert.deepEqual(parseVersion(''), [0, 1, 0]);
  assert.deepEqual(parseVersion('1'), [1, 0, 0]);
  assert.deepEqual(parseVersion('1.1'), [1, 1, 0]);
  assert.deepEqual(parseVersion('0.3.1'), [0, 3, 1]);
  for (const text of ['1.2.3.4', 'broken', '1..0', '1.x', 'v1.0.0', '1.0.0 ', '.', '1.0.0-rc1']) {
    assert.throws(() => parseVersion(text), DecodeError, text);
  }
});

test('the released versions are in order', () => {
  const sorted = [...CNI_VERSIONS].sort(compareVersions);
  assert.deepEqual(sorted, [...CNI_VERSIONS]);
  assert.deepEqual(versionsFrom('0.4.0'), ['0.4.0', '1.0.0', '1.1.0']);
  assert.equal(versionsFrom('0.1.0').length, 7);
});

test('versions compare by number, not as text', () => {
  assert.ok(compareVersions('0.10.0', '0.9.0') > 0);
  assert.equal(compareVersions('1', '1.0.0'), 0);
  assert.ok(atLeast('0.4.0', '0.4.0'));
  assert.ok(!atLeast('', '0.4.0'));
});

test('comparing is antisymmetric', () => {
  const version = fc.tuple(fc.nat(20), fc.nat(20), fc.nat(20)).map((parts) => parts.join('.'));
  fc.assert(
    fc.property(version, version, (a, b) => {
      assert.equal(Math.sign(compareVersions(a, b)), -Math.sign(compareVersions(b, a)) + 0);
    }),
  );
});

test('a list that offers several versions gets the newest that is known', () => {
  assert.equal(negotiate(['0.4.0', '1.0.0'], ''), '1.0.0');
  assert.equal(negotiate(['1.0.0', '9.9.9'], '0.4.0'), '1.0.0');
  assert.equal(negotiate(['0.3.1'], '1.1.0'), '1.1.0');
  assert.equal(negotiate([], '0.4.0'), '0.4.0');
  assert.equal(negotiate(['2.0.0'], ''), '');
  assert.equal(negotiate(['2.0.0'], '3.0.0'), '3.0.0', 'nothing known is left: the literal value stays');
  assert.throws(() => negotiate(['1.0.0', 'broken'], ''), DecodeError);
  assert.throws(() => negotiate(['1.0.0'], 'broken'), DecodeError);
});
