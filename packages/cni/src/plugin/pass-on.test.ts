import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '../result.ts';
import { passOn } from './pass-on.ts';

const EARLIER: Result = {
  cniVersion: '1.1.0',
  interfaces: [{ name: 'br1' }, { name: 'net0', sandbox: '/run/netns/a' }],
  ips: [{ address: '192.0.2.7/24', interface: 1 }],
  routes: [{ dst: '198.51.100.0/24', gw: '192.0.2.1' }, { dst: '0.0.0.0/0' }],
  dns: { search: ['early.example'] },
};
const OWN: Result = {
  cniVersion: '1.1.0',
  interfaces: [
    { name: 'br1', mac: '02:00:00:00:00:01' },
    { name: 'eth0', sandbox: '/run/netns/a' },
  ],
  ips: [{ address: '10.1.2.3/24', interface: 1 }],
  routes: [{ dst: '0.0.0.0/0' }],
};

test('what earlier plugins have made comes first, and every address keeps its interface', () => {
  assert.deepEqual(passOn(EARLIER, OWN), {
    cniVersion: '1.1.0',
    interfaces: [
      { name: 'net0', sandbox: '/run/netns/a' },
      { name: 'br1', mac: '02:00:00:00:00:01' },
      { name: 'eth0', sandbox: '/run/netns/a' },
    ],
    ips: [
      { address: '192.0.2.7/24', interface: 0 },
      { address: '10.1.2.3/24', interface: 2 },
    ],
    routes: [{ dst: '198.51.100.0/24', gw: '192.0.2.1' }, { dst: '0.0.0.0/0' }],
    dns: { search: ['early.example'] },
  });
});

test('a plugin that passes it on by itself is not contradicted', () => {
  const passed = passOn(EARLIER, OWN);
  assert.deepEqual(passOn(EARLIER, passed), passed);
});

test('its own name resolution counts where there is any', () => {
  const dns = { nameservers: ['192.0.2.53'] };
  assert.deepEqual(passOn(EARLIER, { ...OWN, dns }).dns, dns);
  assert.deepEqual(passOn(EARLIER, { ...OWN, dns: {} }).dns, EARLIER.dns);
});

test('addresses without an interface stay so', () => {
  const ips = [{ address: '192.0.2.9/24' }];
  assert.deepEqual(passOn({ cniVersion: '1.1.0', ips }, { cniVersion: '1.1.0' }).ips, ips);
});
