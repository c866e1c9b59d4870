import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '@heddle/cni';
import { shapeProblems } from './result-shape.ts';

const GOOD: Readonly<Record<string, JsonObject>> = {
  '0.2.0': {
    cniVersion: '0.2.0',
    ip4: { ip: '10.1.0.5/16', gateway: '10.1.0.1', routes: [{ dst: '0.0.0.0/0' }] },
    dns: {},
  },
  '0.4.0': {
    cniVersion: '0.4.0',
    interfaces: [{ name: 'eth0', mac: '00:11:22:33:44:55', sandbox: '/run/netns/a' }],
    ips: [{ version: '4', address: '10.1.0.5/16', gateway: '10.1.0.1', interface: 0 }],
    routes: [{ dst: '0.0.0.0/0', gw: '10.1.0.1' }],
    dns: { nameservers: ['10.1.0.1'], search: ['example.org'] },
  },
  '1.1.0': {
    cniVersion: '1.1.0',
    interfaces: [{ name: 'eth0', mtu: 1400, socketPath: '/run/x', pciID: '0000:01:00.0' }],
    ips: [{ address: 'fd00::5/64', interface: 0 }],
    routes: [{ dst: '::/0', table: 7, priority: 1, scope: 0 }],
  },
};

for (const [version, result] of Object.entries(GOOD)) {
  test(`a result of version ${version} as the specification has it`, () => {
    assert.deepEqual(shapeProblems(result, version), []);
  });
}

describe('what is wrong is named, with its place', () => {
  const cases: readonly (readonly [string, string, JsonObject, string])[] = [
    ['another version', '1.0.0', GOOD['1.1.0'] ?? {}, 'cniVersion: "1.1.0" in place of "1.0.0"'],
    [
      'a form of an older version',
      '1.1.0',
      { cniVersion: '1.1.0', ip4: {} },
      'ip4: no member of a result of this version',
    ],
    [
      'a version in ips',
      '1.0.0',
      { cniVersion: '1.0.0', ips: [{ version: '4', address: '10.0.0.1/8' }] },
      'ips[0].version: no member of a result of this version',
    ],
    [
      'none where there must be one',
      '0.4.0',
      { cniVersion: '0.4.0', ips: [{ address: '10.0.0.1/8' }] },
      'ips[0].version: missing',
    ],
    [
      'an address without a length',
      '1.1.0',
      { cniVersion: '1.1.0', ips: [{ address: '10.0.0.1' }] },
      'ips[0].address: "10.0.0.1" is not an address with prefix length',
    ],
    [
      'an interface that is not listed',
      '1.1.0',
      { cniVersion: '1.1.0', interfaces: [{ name: 'a' }], ips: [{ address: '10.0.0.1/8', interface: 1 }] },
      'ips[0].interface: 1, but there are 1 interfaces',
    ],
    ['lists that are none', '1.1.0', { cniVersion: '1.1.0', interfaces: {} }, 'interfaces: not a list'],
  ];
  for (const [what, version, result, problem] of cases) {
    test(what, () => assert.deepEqual(shapeProblems(result, version), [problem]));
  }
});
