import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import type { Route } from '@heddle/netlink';
import { freeTables, ownRoute } from './route-tables.ts';

test('tables are free when nobody has them and the system does not either', () => {
  assert.deepEqual(freeTables(100, 3, new Set([101, 255, 7])), [100, 102, 103]);
  assert.deepEqual(freeTables(251, 3, new Set()), [251, 252, 256]);
  assert.deepEqual(freeTables(100, 0, new Set()), []);
  const taken = new Set(Array.from({ length: 999 }, (_, index) => index + 1));
  assert.deepEqual(freeTables(1, 1, taken), [1000]);
});

test('of an IPv6 route by several interfaces each has its own, of an IPv4 route none', () => {
  const about = { table: 254, scope: 0, protocol: 3, type: 'unicast', flags: 0, onlink: false } as const;
  const route = (text: string, gateways: readonly string[]): Route => {
    const dst = Prefix.parse(text);
    const nexthops = gateways.map((each, n) => ({ gateway: Addr.parse(each), link: 2 + n, weight: 1 }));
    return { ...about, family: dst.family, dst, nexthops };
  };
  const six = route('::/0', ['fd00::1', 'fd01::1']);
  const { nexthops: _, ...rest } = six;
  assert.deepEqual(ownRoute(six, 3), [{ ...rest, gateway: Addr.parse('fd01::1'), link: 3 }]);
  assert.deepEqual(ownRoute(six, 4), []);
  assert.deepEqual(ownRoute(route('0.0.0.0/0', ['10.0.0.1', '10.1.0.1']), 3), []);
});
