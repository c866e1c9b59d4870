import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeConfig } from '@heddle/cni';
import { hasIpam } from '../stacked/index.ts';
import { vlanConfig } from './config.ts';

const read = (config: object) => decodeConfig(vlanConfig, config);

test('defaults', () => {
  assert.deepEqual(read({ master: 'eth0' }), { master: 'eth0', vlanId: 0, mtu: 0, linkInContainer: false });
  assert.equal(hasIpam(read({ master: 'eth0', ipam: {} })), false);
});

test('names of members match in any letter case, and null leaves the default', () => {
  const { master, vlanId, linkInContainer } = read({ Master: 'eth0', VLANID: 7, linkincontainer: null });
  assert.deepEqual([master, vlanId, linkInContainer], ['eth0', 7, false]);
});

for (const vlanId of [-1, 4095, 1.5]) {
  test(`VLAN ${vlanId} is refused`, () => {
    assert.throws(() => read({ master: 'eth0', vlanId }), {
      msg: `invalid VLAN ID ${vlanId} (must be between 0 and 4094)`,
      cniCode: 7,
    });
  });
}

test('a master is needed', () => {
  for (const config of [{}, { master: '' }]) {
    assert.throws(() => read(config), { msg: /master/, pointer: '/master', cniCode: 7 });
  }
});
