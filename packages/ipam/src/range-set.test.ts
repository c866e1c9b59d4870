import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { capacity, type RangeConfig, resolveRange } from './range.ts';
import { capacityOf, formatRangeSet, resolveRangeSets } from './range-set.ts';

interface Texts {
  readonly subnet: string;
  readonly rangeStart?: string;
  readonly rangeEnd?: string;
  readonly gateway?: string;
}

function config({ subnet, ...addrs }: Texts): RangeConfig {
  const parsed = Object.entries(addrs).map(([name, text]) => [name, Addr.parse(text)]);
  return { subnet: Prefix.parse(subnet), ...Object.fromEntries(parsed) };
}

describe('defaults of a range', () => {
  const rows: readonly [Texts, addresses: string, gateway: string | undefined, capacity: bigint][] = [
    [{ subnet: '192.0.2.0/24' }, '192.0.2.1-192.0.2.254', '192.0.2.1', 253n],
    [{ subnet: '192.0.2.0/30' }, '192.0.2.1-192.0.2.2', '192.0.2.1', 1n],
    [{ subnet: '192.0.2.128/25' }, '192.0.2.129-192.0.2.254', '192.0.2.129', 125n],
    [
      { subnet: '2001:db8:1::/64' },
      '2001:db8:1::1-2001:db8:1:0:ffff:ffff:ffff:ffff',
      '2001:db8:1::1',
      2n ** 64n - 2n,
    ],
    [{ subnet: '2001:db8::/126' }, '2001:db8::1-2001:db8::3', '2001:db8::1', 2n],
    [{ subnet: '192.0.2.0/31' }, '192.0.2.0-192.0.2.1', '192.0.2.0', 1n],
    [{ subnet: '192.0.2.0/31', gateway: '192.0.2.1' }, '192.0.2.0-192.0.2.1', '192.0.2.1', 1n],
    [{ subnet: '192.0.2.7/32' }, '192.0.2.7-192.0.2.7', undefined, 1n],
    [{ subnet: '192.0.2.7/32', gateway: '198.51.100.1' }, '192.0.2.7-192.0.2.7', '198.51.100.1', 1n],
    [{ subnet: '2001:db8::/127' }, '2001:db8::-2001:db8::1', '2001:db8::', 1n],
    [{ subnet: '2001:db8::7/128' }, '2001:db8::7-2001:db8::7', undefined, 1n],
    [
      { subnet: '192.0.2.0/24', rangeStart: '192.0.2.40', rangeEnd: '192.0.2.50' },
      '192.0.2.40-192.0.2.50',
      '192.0.2.1',
      11n,
    ],
    [
      { subnet: '2001:db8:5::/64', gateway: 'fe80::1' },
      '2001:db8:5::1-2001:db8:5:0:ffff:ffff:ffff:ffff',
      'fe80::1',
      2n ** 64n - 1n,
    ],
    [{ subnet: '192.0.2.0/24', gateway: '198.51.100.1' }, '192.0.2.1-192.0.2.254', '198.51.100.1', 254n],
    [
      { subnet: '2001:db8::/64', rangeStart: '2001:db8::', rangeEnd: '2001:db8::2' },
      '2001:db8::-2001:db8::2',
      '2001:db8::1',
      2n,
    ],
  ];
  for (const [texts, addresses, gateway, size] of rows) {
    test(JSON.stringify(texts), () => {
      const range = resolveRange(config(texts));
      assert.equal(range.addresses.toString(), addresses);
      assert.equal(range.gateway?.toString(), gateway);
      assert.equal(capacity(range), size);
    });
  }
});

describe('ranges that are refused', () => {
  const rows: readonly [Texts, string][] = [
    [
      { subnet: '192.0.2.1/24' },
      'Network has host bits set. For a subnet mask of length 24 the network address is 192.0.2.0',
    ],
    [{ subnet: '192.0.2.0/24', rangeStart: '192.0.3.0' }, 'RangeStart 192.0.3.0 not in network 192.0.2.0/24'],
    [
      { subnet: '192.0.2.0/24', rangeStart: '2001:db8::1' },
      'RangeStart 2001:db8::1 not in network 192.0.2.0/24',
    ],
    [{ subnet: '192.0.2.0/24', rangeEnd: '192.0.4.0' }, 'RangeEnd 192.0.4.0 not in network 192.0.2.0/24'],
    [
      { subnet: '192.0.2.0/24', rangeStart: '192.0.2.20', rangeEnd: '192.0.2.10' },
      'RangeStart 192.0.2.20 not in network 192.0.2.0/24',
    ],
    [
      { subnet: '192.0.2.0/24', rangeStart: '192.0.2.255' },
      'RangeStart 192.0.2.255 not in network 192.0.2.0/24',
    ],
    [
      { subnet: '192.0.2.0/24', rangeStart: '192.0.2.255', rangeEnd: '192.0.2.255' },
      'RangeStart 192.0.2.255 is the broadcast address of 192.0.2.0/24',
    ],
    [
      { subnet: '192.0.2.0/24', rangeStart: '192.0.2.0' },
      'RangeStart 192.0.2.0 is the network address of 192.0.2.0/24',
    ],
    [
      { subnet: '192.0.2.0/30', rangeEnd: '192.0.2.3' },
      'RangeEnd 192.0.2.3 is the broadcast address of 192.0.2.0/30',
    ],
  ];
  for (const [texts, message] of rows) {
    test(JSON.stringify(texts), () => {
      assert.throws(() => resolveRange(config(texts)), { code: 'IPAM_RANGE_INVALID', message });
    });
  }
});

describe('range sets', () => {
  const rows: readonly [name: string, sets: readonly (readonly Texts[])[], message: string][] = [
    ['no set', [], 'no IP ranges specified'],
    ['an empty set', [[]], 'invalid range set 0: empty range set'],
    [
      'two families in one set',
      [[{ subnet: '192.0.2.0/24' }, { subnet: '2001:db8::/64' }]],
      'invalid range set 0: mixed address families',
    ],
    [
      'overlap inside a set',
      [[{ subnet: '192.0.2.0/24' }, { subnet: '192.0.2.0/30' }]],
      'invalid range set 0: subnets 192.0.2.1-192.0.2.254 and 192.0.2.1-192.0.2.2 overlap',
    ],
    [
      'overlap between sets',
      [[{ subnet: '10.1.2.0/24' }], [{ subnet: '10.1.2.0/24', rangeEnd: '10.1.2.9' }]],
      'range set 0 overlaps with 1',
    ],
    [
      'a bad range in the second set',
      [[{ subnet: '192.0.2.0/24' }], [{ subnet: '10.0.0.1/8' }]],
      'invalid range set 1: Network has host bits set. For a subnet mask of length 8 the network address is 10.0.0.0',
    ],
  ];
  for (const [name, sets, message] of rows) {
    test(`refuses ${name}`, () => {
      assert.throws(() => resolveRangeSets(sets.map((set) => set.map(config))), { message });
    });
  }

  test('one subnet may be split between sets', () => {
    const sets = resolveRangeSets([
      [config({ subnet: '10.0.0.0/24', rangeEnd: '10.0.0.99' })],
      [config({ subnet: '10.0.0.0/24', rangeStart: '10.0.0.100' })],
    ]);
    assert.deepEqual(sets.map(formatRangeSet), ['10.0.0.1-10.0.0.99', '10.0.0.100-10.0.0.254']);
    assert.deepEqual(sets.map(capacityOf), [98n, 155n]);
  });
});
