import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientIdOf, ownerFile } from './owner.ts';

const owner = { network: 'net1', containerID: 'c1', ifName: 'eth0' };

test('the client’s identifier has a type of 0, and the reference’s text', () => {
  assert.equal(Buffer.from(clientIdOf(owner)).toString(), '\0c1/net1/eth0');
});

test('it is never longer than an option', () => {
  const long = clientIdOf({ ...owner, containerID: 'x'.repeat(300) });
  assert.equal(long.length, 255);
});

test('owners have files of their own, whatever their names', () => {
  const files = [owner, { ...owner, ifName: 'eth1' }, { ...owner, containerID: '../../etc' }].map(ownerFile);
  assert.equal(new Set(files).size, 3);
  for (const file of files) assert.match(file, /^[0-9a-f]{32}\.json$/);
});
