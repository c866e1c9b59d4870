import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '@heddle/dhcp';
import { Addr, Prefix } from '@heddle/netaddr';
import { leaseResult } from './result.ts';

const addr = (text: string) => Addr.parse(text);
const route = (destination: string, router: string) => ({
  destination: Prefix.parse(destination),
  router: addr(router),
});

const lease: Lease = {
  prefix: Prefix.parse('192.0.2.5/24'),
  server: addr('192.0.2.1'),
  ...{ renewAt: 1, rebindAt: 2, expiresAt: 3 },
  ...{ routers: [], nameServers: [], search: [], staticRoutes: [] },
};

test('an address, and no more than the server said', () => {
  assert.deepEqual(leaseResult(lease, 0), {
    cniVersion: '1.1.0',
    ips: [{ address: '192.0.2.5/24' }],
  });
});

test('the first router is the gateway, and the way to everywhere', () => {
  const routers = [addr('192.0.2.1'), addr('192.0.2.2')];
  assert.deepEqual(leaseResult({ ...lease, routers }, 0), {
    cniVersion: '1.1.0',
    ips: [{ address: '192.0.2.5/24', gateway: '192.0.2.1' }],
    routes: [{ dst: '0.0.0.0/0', gw: '192.0.2.1' }],
  });
});

test('static routes come before the way to everywhere', () => {
  const staticRoutes = [route('10.0.0.0/8', '192.0.2.3')];
  assert.deepEqual(leaseResult({ ...lease, routers: [addr('192.0.2.1')], staticRoutes }, 0).routes, [
    { dst: '10.0.0.0/8', gw: '192.0.2.3' },
    { dst: '0.0.0.0/0', gw: '192.0.2.1' },
  ]);
});

test('classless routes take the place of all others; one without a router is on the link', () => {
  const classlessRoutes = [route('10.0.0.0/8', '192.0.2.3'), route('198.51.100.0/24', '0.0.0.0')];
  const staticRoutes = [route('10.1.2.3/32', '192.0.2.4')];
  const result = leaseResult({ ...lease, routers: [addr('192.0.2.1')], staticRoutes, classlessRoutes }, 9);
  assert.deepEqual(result.ips, [{ address: '192.0.2.5/24', gateway: '192.0.2.1' }]);
  assert.deepEqual(result.routes, [
    { dst: '10.0.0.0/8', gw: '192.0.2.3', priority: 9 },
    { dst: '198.51.100.0/24', gw: '0.0.0.0', scope: 253, priority: 9 },
  ]);
  assert.deepEqual(
    leaseResult({ ...lease, routers: [addr('192.0.2.1')], classlessRoutes: [] }, 0).routes,
    undefined,
  );
});

test('what the server says of name resolution', () => {
  const dnsOf = (more: Partial<Lease>) => leaseResult({ ...lease, ...more }, 0).dns;
  assert.equal(dnsOf({}), undefined);
  assert.deepEqual(dnsOf({ domain: 'example.org' }), { domain: 'example.org' });
  assert.deepEqual(dnsOf({ nameServers: [addr('192.0.2.53')], search: ['a.example'] }), {
    nameservers: ['192.0.2.53'],
    search: ['a.example'],
  });
});
