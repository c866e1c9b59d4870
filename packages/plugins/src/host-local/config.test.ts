import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeConfig } from '@heddle/cni';
import { formatRangeSet } from '@heddle/ipam';
import { type HostLocalConfig, hostLocalConfig, rangeSetsOf, requestedIps } from './config.ts';

function decode(config: object): HostLocalConfig {
  return decodeConfig(hostLocalConfig, config);
}

function sets(config: object, version = '1.1.0'): string[] {
  return rangeSetsOf(decode(config), version).map(formatRangeSet);
}

describe('range sets of a configuration', () => {
  const cases: readonly [name: string, config: object, expected: readonly string[]][] = [
    [
      'short form',
      {
        ipam: { subnet: '10.1.2.0/24', rangeStart: '10.1.2.9', rangeEnd: '10.1.2.20', gateway: '10.1.2.30' },
      },
      ['10.1.2.9-10.1.2.20'],
    ],
    [
      'long form',
      {
        ipam: {
          ranges: [
            [
              { subnet: '10.1.2.0/24', rangeStart: '10.1.2.9', rangeEnd: '10.1.2.20' },
              { subnet: '10.1.4.0/24' },
            ],
            [{ subnet: '11.1.2.0/24' }],
          ],
        },
      },
      ['10.1.2.9-10.1.2.20,10.1.4.1-10.1.4.254', '11.1.2.1-11.1.2.254'],
    ],
    [
      'the short form comes before the long one',
      { ipam: { subnet: '10.1.2.0/24', ranges: [[{ subnet: '11.1.2.0/24' }]] } },
      ['10.1.2.1-10.1.2.254', '11.1.2.1-11.1.2.254'],
    ],
    [
      "the runtime's ranges come before both",
      {
        ipam: { subnet: '10.1.2.0/24', ranges: [[{ subnet: '11.1.2.0/24' }]] },
        RuntimeConfig: { ipRanges: [[{ subnet: '12.1.3.0/24' }], [{ Subnet: '12.2.3.0/24' }]] },
      },
      ['12.1.3.1-12.1.3.254', '12.2.3.1-12.2.3.254', '10.1.2.1-10.1.2.254', '11.1.2.1-11.1.2.254'],
    ],
    [
      'bounds that are empty texts are not set',
      { ipam: { subnet: '10.1.2.0/24', rangeStart: '', rangeEnd: '', gateway: '' } },
      ['10.1.2.1-10.1.2.254'],
    ],
    [
      'IPv4 addresses that are mapped into IPv6 are IPv4 addresses',
      { ipam: { subnet: '::ffff:10.1.2.0/120', rangeStart: '::ffff:10.1.2.9' } },
      ['10.1.2.9-10.1.2.254'],
    ],
  ];
  for (const [name, config, expected] of cases) {
    test(name, () => assert.deepEqual(sets(config), expected));
  }

  const refused: readonly [name: string, config: object, message: string][] = [
    ['no ipam', { runtimeConfig: {} }, "IPAM config missing 'ipam' key"],
    ['no ranges', { ipam: {} }, 'no IP ranges specified'],
    [
      'overlap of the two forms',
      { ipam: { subnet: '10.1.2.0/24', ranges: [[{ subnet: '10.1.2.0/24' }]] } },
      'range set 0 overlaps with 1',
    ],
    [
      'mixed families',
      { ipam: { ranges: [[{ subnet: '10.1.2.0/24' }, { subnet: '2001:db8::/64' }]] } },
      'invalid range set 0: mixed address families',
    ],
  ];
  for (const [name, config, message] of refused) {
    test(`refuses ${name}`, () => assert.throws(() => sets(config), { message }));
  }

  const twice = { ipam: { ranges: [[{ subnet: '10.1.2.0/24' }], [{ subnet: '11.1.2.0/24' }]] } };
  const dual = { ipam: { ranges: [[{ subnet: '10.1.2.0/24' }], [{ subnet: '2001:db8::/64' }]] } };
  for (const version of ['0.1.0', '0.2.0']) {
    test(`version ${version} has room for one address per family`, () => {
      const message = `CNI version ${version} does not support more than 1 address per family`;
      assert.throws(() => sets(twice, version), { cniCode: 7, message });
      assert.equal(sets(dual, version).length, 2);
    });
  }
  test('later versions have room for more', () => assert.equal(sets(twice, '0.3.0').length, 2));
});

describe('requested addresses', () => {
  const ipam = { subnet: '10.1.2.0/24' };
  test('are merged from all sources, prefix lengths ignored', () => {
    const config = decode({
      ipam,
      args: { cni: { ips: ['10.1.2.11', '11.11.11.11/24', ''] } },
      runtimeConfig: { ips: ['10.1.2.12/16', '2001:DB8::1', '::ffff:10.1.2.13'] },
    });
    assert.deepEqual(requestedIps(config, '10.1.2.10/24').map(String), [
      '10.1.2.10',
      '10.1.2.11',
      '11.11.11.11',
      '10.1.2.12',
      '2001:db8::1',
      '10.1.2.13',
    ]);
    assert.deepEqual(requestedIps(decode({ ipam }), '').map(String), []);
  });

  test('that are no addresses are refused', () => {
    assert.throws(() => decode({ ipam, args: { cni: { ips: ['10.1.2'] } } }), {
      cniCode: 7,
      pointer: '/args/cni/ips/0',
      msg: 'invalid IP address: 10.1.2',
    });
    assert.throws(() => requestedIps(decode({ ipam }), 'bogus'), {
      cniCode: 4,
      msg: 'ARGS: error parsing value of pair "IP=bogus": invalid IP address bogus',
    });
  });
});
