import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  attachmentKey,
  sameAttachment,
  validateAttachment,
  validateContainerId,
  validateIfName,
  validateNetworkName,
} from './attachment.ts';
import { CniError } from './errors.ts';

function refusal(check: () => void): [code: number, msg: string, details: string | undefined] {
  try {
    check();
  } catch (error) {
    assert.ok(error instanceof CniError);
    return [error.cniCode, error.msg, error.cniDetails];
  }
  assert.fail('not refused');
}

test('container IDs (containernetworking/cni#679)', () => {
  for (const id of ['c1', 'A', '0a_.-', 'x'.repeat(200)]) validateContainerId(id);
  assert.deepEqual(
    refusal(() => validateContainerId('')),
    [3, 'missing containerID', undefined],
  );
  for (const id of ['a/b', '..', '-a', '_a', 'a b', 'a\n', 'ä', '../x']) {
    assert.deepEqual(
      refusal(() => validateContainerId(id)),
      [4, 'invalid characters in containerID', id],
    );
  }
});

test('network names', () => {
  for (const name of ['n1', 'kindnet', 'a.b-c_d']) validateNetworkName(name);
  assert.deepEqual(
    refusal(() => validateNetworkName('')),
    [7, 'missing network name', undefined],
  );
  const bad = '../../tmp/x';
  assert.deepEqual(
    refusal(() => validateNetworkName(bad)),
    [7, 'invalid characters found in network name', bad],
  );
});

test('interface names', () => {
  for (const name of ['eth0', 'a', '123456789012345', 'net.100', '...', '\ufeff']) validateIfName(name);
  const forbidden = 'interface name contains / or : or whitespace characters';
  assert.deepEqual(
    refusal(() => validateIfName('')),
    [4, 'interface name is empty', undefined],
  );
  for (const name of ['.', '..']) {
    assert.deepEqual(
      refusal(() => validateIfName(name)),
      [4, 'interface name is . or ..', undefined],
    );
  }
  for (const name of [
    'eth/0',
    'a:b',
    'a b',
    'a\t',
    '\u0085',
    '\u00a0',
    '\u2003',
    '\u2028',
    '\u3000',
    'a\v',
  ]) {
    assert.deepEqual(
      refusal(() => validateIfName(name)),
      [4, forbidden, undefined],
      JSON.stringify(name),
    );
  }
});

test('interface names that mean something else to the kernel', () => {
  for (const name of ['eth%d', '%', 'all', 'default']) {
    assert.deepEqual(
      refusal(() => validateIfName(name)),
      [4, 'interface name has a meaning of its own to the kernel', name],
    );
  }
});

test('the length of an interface name counts in bytes', () => {
  const tooLong = [4, 'interface name is too long', 'interface name should be less than 16 characters'];
  assert.deepEqual(
    refusal(() => validateIfName('1234567890123456')),
    tooLong,
  );
  validateIfName('äääääää1');
  assert.deepEqual(
    refusal(() => validateIfName('ääääääää')),
    tooLong,
  );
});

test('an attachment is refused for its first part that is not valid', () => {
  const id = { network: 'n1', containerID: 'c1', ifName: 'eth0' };
  validateAttachment(id);
  assert.equal(refusal(() => validateAttachment({ network: '', containerID: 'a/b', ifName: '' }))[0], 4);
  assert.equal(refusal(() => validateAttachment({ ...id, network: '../x', ifName: '' }))[0], 7);
});

test('keys tell attachments apart that a joined file name would confuse', () => {
  const a = { network: 'n', containerID: 'c-d', ifName: 'e' };
  const b = { network: 'n-c', containerID: 'd', ifName: 'e' };
  assert.notEqual(attachmentKey(a), attachmentKey(b));
  assert.ok(!sameAttachment(a, b));
  assert.ok(sameAttachment(a, { ...a }));
});
