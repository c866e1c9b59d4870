import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '@heddle/cni';
import { Addr, Prefix } from '@heddle/netaddr';
import { planRoutes } from './plan-routes.ts';

const v4 = { prefix: Prefix.parse('192.0.2.5/24'), gateway: Addr.parse('192.0.2.1') };
const v6 = { prefix: Prefix.parse('2001:db8::5/64'), gateway: Addr.parse('2001:db8::1') };

/** The plan as `ip route` would be told. */
function plan(addresses: Parameters<typeof planRoutes>[1], routes: readonly Route[]): readonly string[] {
  return planRoutes(7, addresses, routes).map(({ dst, gateway, via, link, scope, metric, table, metrics }) =>
    [
      `${dst}`,
      gateway && `via ${gateway}`,
      via && `via other ${via}`,
      `dev ${link}`,
      scope && `scope ${scope}`,
      metric && `metric ${metric}`,
      table && `table ${table}`,
      metrics?.mtu && `mtu ${metrics.mtu}`,
      metrics?.advmss && `advmss ${metrics.advmss}`,
    ]
      .filter(Boolean)
      .join(' '),
  );
}

test('a route without a gateway takes the first of its family', () => {
  const second = { prefix: Prefix.parse('198.51.100.5/24'), gateway: Addr.parse('198.51.100.1') };
  assert.deepEqual(plan([v4, second, v6], [{ dst: '0.0.0.0/0' }, { dst: '::/0' }, { dst: '10.0.0.9/8' }]), [
    '0.0.0.0/0 via 192.0.2.1 dev 7',
    '::/0 via 2001:db8::1 dev 7',
    '10.0.0.0/8 via 192.0.2.1 dev 7',
  ]);
  assert.deepEqual(plan([{ prefix: v4.prefix }], [{ dst: '10.0.0.0/8' }]), ['10.0.0.0/8 dev 7']);
});

test('a gateway outside the networks is made reachable first, once, in both families', () => {
  const out4 = { prefix: v4.prefix, gateway: Addr.parse('198.51.100.1') };
  const out6 = { prefix: Prefix.parse('2001:db8:5:333::2/64'), gateway: Addr.parse('2001:db8:5::1') };
  assert.deepEqual(plan([out4, out6], [{ dst: '0.0.0.0/0' }, { dst: '10.0.0.0/8' }, { dst: '::/0' }]), [
    '198.51.100.1/32 dev 7 scope 253',
    '0.0.0.0/0 via 198.51.100.1 dev 7',
    '10.0.0.0/8 via 198.51.100.1 dev 7',
    '2001:db8:5::1/128 dev 7 scope 253',
    '::/0 via 2001:db8:5::1 dev 7',
  ]);
});

test('a link-local gateway is reachable as it is', () => {
  const linkLocal = { prefix: v6.prefix, gateway: Addr.parse('fe80::1') };
  assert.deepEqual(plan([linkLocal], [{ dst: '::/0' }]), ['::/0 via fe80::1 dev 7']);
});

test('a route of the result can make the gateway reachable', () => {
  const far = { prefix: v4.prefix };
  assert.deepEqual(plan([far], [{ dst: '198.51.100.0/24' }, { dst: '0.0.0.0/0', gw: '198.51.100.1' }]), [
    '198.51.100.0/24 dev 7',
    '0.0.0.0/0 via 198.51.100.1 dev 7',
  ]);
});

test('what is on the link has no gateway', () => {
  assert.deepEqual(plan([v4], [{ dst: '198.51.100.0/24', scope: 253 }]), ['198.51.100.0/24 dev 7 scope 253']);
  // DHCP says it with an address of zeros.
  const zeros = { dst: '198.51.100.0/24', gw: '0.0.0.0', scope: 253 };
  assert.deepEqual(plan([v4], [zeros]), ['198.51.100.0/24 dev 7 scope 253']);
  assert.deepEqual(plan([v6], [{ dst: '2001:db8:1::/64', gw: '::' }]), ['2001:db8:1::/64 dev 7']);
});

test('metrics, priority, table and scope are programmed', () => {
  const route = { dst: '10.0.0.0/8', mtu: 1400, advmss: 1360, priority: 50, table: 100, scope: 0 };
  assert.deepEqual(plan([v4], [route]), [
    '10.0.0.0/8 via 192.0.2.1 dev 7 metric 50 table 100 mtu 1400 advmss 1360',
  ]);
});

test('a duplicate is made once, several ways to one place all', () => {
  const dst = '10.0.0.0/8';
  assert.deepEqual(plan([v4], [{ dst }, { dst, gw: '192.0.2.1' }, { dst, gw: '192.0.2.2' }]), [
    '10.0.0.0/8 via 192.0.2.1 dev 7',
    '10.0.0.0/8 via 192.0.2.2 dev 7',
  ]);
});

test('a gateway of the other family', () => {
  assert.deepEqual(plan([v4, v6], [{ dst: '10.0.0.0/8', gw: '2001:db8::9' }]), [
    '10.0.0.0/8 via other 2001:db8::9 dev 7',
  ]);
});
