import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeConfig } from '@heddle/cni';
import { masqueradeBackend } from '../interface/masquerade.ts';
import {
  bridgeConfig,
  checkCombination,
  filtersVlans,
  hasIpam,
  isGateway,
  portVlans,
  requestedMac,
} from './config.ts';

const read = (config: object) => decodeConfig(bridgeConfig, config);

test('defaults', () => {
  const config = read({});
  assert.equal(config.bridge, 'cni0');
  assert.equal(config.preserveDefaultVlan, false);
  assert.equal(hasIpam(config), false);
  assert.equal(isGateway(config), false);
  assert.equal(filtersVlans(config), false);
  assert.equal(masqueradeBackend(config), 'nftables');
});

test('names of members match in any letter case, and null leaves the default', () => {
  const config = read({
    Bridge: 'br7',
    ISGATEWAY: true,
    mtu: null,
    RuntimeConfig: { Mac: '02:00:00:00:00:07' },
  });
  assert.equal(config.bridge, 'br7');
  assert.equal(isGateway(config), true);
  assert.equal(config.mtu, 0);
  assert.equal(`${requestedMac(config, undefined)}`, '02:00:00:00:00:07');
});

test('a default gateway is a gateway; an ipam object without a type is none', () => {
  assert.equal(isGateway(read({ isDefaultGateway: true })), true);
  assert.equal(hasIpam(read({ ipam: {} })), false);
  assert.equal(hasIpam(read({ ipam: { type: 'host-local', extra: 1 } })), true);
});

test('the hardware address: CNI_ARGS, then args.cni, then runtimeConfig', () => {
  const args = { args: { cni: { mac: '02:00:00:00:00:02' } } };
  const runtime = { runtimeConfig: { mac: '02:00:00:00:00:03' } };
  const from = (config: object) => String(requestedMac(read(config), '02:00:00:00:00:01'));
  assert.equal(from({}), '02:00:00:00:00:01');
  assert.equal(from(args), '02:00:00:00:00:02');
  assert.equal(from({ ...args, ...runtime }), '02:00:00:00:00:03');
  assert.equal(requestedMac(read({}), undefined), undefined);
});

for (const vlan of [-100, 5000, 4095, 1.5]) {
  test(`VLAN ${vlan} is refused`, () => {
    assert.throws(() => read({ vlan }), {
      msg: `invalid VLAN ID ${vlan} (must be between 0 and 4094)`,
      cniCode: 7,
    });
  });
}

for (const bridge of ['sixteen-letters-', 'ﬁfteen-letters', 'a b', 'a/b', 'a:b', '..', '']) {
  test(`a bridge cannot be called "${bridge}"`, () => {
    assert.throws(() => read({ bridge }), {
      msg: `bridge: expected the name of a link, of at most 15 bytes and without spaces, / and :, got "${bridge}" (a string)`,
      cniCode: 7,
    });
  });
}

test('VLANs of the port', () => {
  assert.deepEqual(portVlans(read({})), { untagged: 0, tagged: [] });
  assert.deepEqual(portVlans(read({ vlan: 100 })), { untagged: 100, tagged: [] });
  assert.deepEqual(portVlans(read({ vlanTrunk: [{ minID: 5, maxID: 6 }] })), { untagged: 1, tagged: [5, 6] });
  assert.deepEqual(portVlans(read({ vlan: 9, vlanTrunk: [{ id: 5 }] })), { untagged: 9, tagged: [5] });
  assert.equal(filtersVlans(read({ vlanTrunk: [] })), true);
});

test('members that exclude each other are refused, with the member named', () => {
  const refused = (config: object) => () => checkCombination(read(config));
  assert.throws(refused({ hairpinMode: true, promiscMode: true }), { cniCode: 7, pointer: '/hairpinMode' });
  assert.throws(refused({ disableContainerInterface: true, ipam: { type: 'static' } }), {
    cniCode: 7,
    pointer: '/disableContainerInterface',
  });
  assert.throws(refused({ ipMasq: true, ipMasqBackend: 'ebtables' }), {
    cniCode: 7,
    pointer: '/ipMasqBackend',
  });
  checkCombination(read({ ipMasqBackend: 'ebtables' }));
  checkCombination(read({ disableContainerInterface: true, ipam: {} }));
});
