import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeConfig, goJson, type JsonObject } from '@heddle/cni';
import { flannelConfig } from './config.ts';
import { delegateConfig } from './delegate-config.ts';
import { parseSubnetEnv } from './subnet-env.ts';

const IPV4 = 'FLANNEL_NETWORK=10.1.0.0/16\nFLANNEL_SUBNET=10.1.17.1/24\n';
const IPV6 = 'FLANNEL_IPV6_NETWORK=fc00::/48\nFLANNEL_IPV6_SUBNET=fc00::1/64\n';
const REST = 'FLANNEL_MTU=1472\nFLANNEL_IPMASQ=true\n';

function made(raw: JsonObject, text: string | undefined = IPV4 + REST): unknown {
  const env = text === '' ? undefined : parseSubnetEnv(text, 'subnet.env');
  const config = decodeConfig(flannelConfig, raw);
  return JSON.parse(goJson(delegateConfig({ network: 'cni-flannel', raw, config }, env)));
}

const BASE = {
  name: 'cni-flannel',
  type: 'bridge',
  isGateway: true,
  ipMasq: false,
  mtu: 1472,
  ipam: { type: 'host-local', ranges: [[{ subnet: '10.1.17.0/24' }]], routes: [{ dst: '10.1.0.0/16' }] },
};

test('without any wish it is a bridge that is the gateway, with host-local', () => {
  assert.deepEqual(made({ type: 'flannel' }), BASE);
  assert.deepEqual(made({ type: 'flannel', delegate: null, ipam: null }), BASE);
  assert.deepEqual(made({ cniVersion: '1.0.0' }), { ...BASE, cniVersion: '1.0.0' });
});

test('each family has its range and its routes', () => {
  assert.deepEqual(made({}, IPV6 + REST), {
    ...BASE,
    ipam: { type: 'host-local', ranges: [[{ subnet: 'fc00::/64' }]], routes: [{ dst: 'fc00::/48' }] },
  });
  assert.deepEqual(made({}, IPV6 + IPV4 + REST), {
    ...BASE,
    ipam: {
      type: 'host-local',
      ranges: [[{ subnet: '10.1.17.0/24' }], [{ subnet: 'fc00::/64' }]],
      routes: [{ dst: '10.1.0.0/16' }, { dst: 'fc00::/48' }],
    },
  });
});

test("the operator's wishes for the delegate come first", () => {
  const delegate = { bridge: 'mynet0', mtu: 1400, hairpinMode: true, isDefaultGateway: true, ipMasq: true };
  assert.deepEqual(made({ delegate }), { ...BASE, ...delegate });
});

test('another delegate is not told to be a gateway', () => {
  const { isGateway: _, ...rest } = BASE;
  assert.deepEqual(made({ delegate: { type: 'ipvlan', master: 'eth0' } }), {
    ...{ ...rest, type: 'ipvlan', master: 'eth0' },
  });
});

test('whoever does not masquerade has the delegate do it', () => {
  assert.deepEqual(made({}, `${IPV4}FLANNEL_MTU=1472\nFLANNEL_IPMASQ=false\n`), { ...BASE, ipMasq: true });
});

test('address management keeps its members and its routes, and gets the subnet', () => {
  const ipam = { type: 'my-ipam', 'unknown-param': [1], ranges: 'lost', routes: [{ dst: '10.96.0.0/12' }] };
  assert.deepEqual(made({ ipam }), {
    ...BASE,
    ipam: {
      type: 'my-ipam',
      'unknown-param': [1],
      ranges: [[{ subnet: '10.1.17.0/24' }]],
      routes: [{ dst: '10.96.0.0/12' }, { dst: '10.1.0.0/16' }],
    },
  });
});

test('what the runtime offers goes to the delegate', () => {
  const runtimeConfig = { mac: '02:00:00:00:00:01' };
  const delegate = { runtimeConfig: { mac: 'lost' } };
  assert.deepEqual(made({ runtimeConfig, delegate }), { ...BASE, runtimeConfig });
});

test('without the daemon’s word there is enough to take something down', () => {
  assert.deepEqual(made({ delegate: { bridge: 'b0' } }, ''), {
    ...{ name: 'cni-flannel', type: 'bridge', bridge: 'b0', isGateway: true },
    ipam: { type: 'host-local', routes: [] },
  });
});

test('members that are not for the operator are refused', () => {
  const refused = (delegate: JsonObject, msg: RegExp) => assert.throws(() => made({ delegate }), { msg });
  refused({ type: 1 }, /'delegate' dictionary, if present, must have \(string\) 'type' field/);
  refused({ name: 'x' }, /'delegate' dictionary must not have 'name' field, it'll be set by flannel/);
  refused({ ipam: {} }, /'delegate' dictionary must not have 'ipam' field, it'll be set by flannel/);
});
