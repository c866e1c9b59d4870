/** CHECK finds each kind of drift, and lets pass what other plugins of the chain may have done. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '@heddle/cni';
import { type Container, PluginLab, StubIpam } from '../testing/index.ts';
import { bridge } from './index.ts';

const config = {
  type: 'bridge',
  bridge: 'br0',
  isDefaultGateway: true,
  ipMasq: true,
  macspoofchk: true,
  ipam: { type: 'stub' },
};
const answer = {
  ips: [{ address: '10.1.2.2/24' }, { address: 'fd00::2/64' }],
  routes: [{ dst: '192.0.2.0/24' }, { dst: '2001:db8:9::/48', gw: 'fd00::9' }],
};

interface Scene {
  readonly lab: PluginLab;
  readonly ipam: StubIpam;
  readonly container: Container;
  readonly result: Result;
  /** The host's end. */
  readonly port: string;
  inside(...args: readonly string[]): string;
  outside(...args: readonly string[]): string;
}

const DRIFTS: readonly (readonly [what: string, make: (scene: Scene) => unknown, said: RegExp])[] = [
  ['link gone', ({ inside }) => inside('link', 'delete', 'eth0'), /link eth0 is missing/],
  ['link down', ({ inside }) => inside('link', 'set', 'eth0', 'down'), /link eth0 should be up/],
  ['host end down', ({ outside, port }) => outside('link', 'set', port, 'down'), /link veth\w+ should be up/],
  [
    'wrong master',
    ({ outside, port }) => {
      outside('link', 'add', 'br9', 'type', 'bridge');
      outside('link', 'set', port, 'master', 'br9');
    },
    /should be a port of br0/,
  ],
  ['no master', ({ outside, port }) => outside('link', 'set', port, 'nomaster'), /should be a port of br0/],
  ['bridge gone', ({ outside }) => outside('link', 'delete', 'br0'), /link br0 is missing/],
  ['bridge down', ({ outside }) => outside('link', 'set', 'br0', 'down'), /link br0 should be up/],
  [
    'another MAC in the container',
    ({ inside }) => inside('link', 'set', 'eth0', 'address', '02:00:00:00:00:99'),
    /eth0 should have the hardware address .*, but has 02:00:00:00:00:99/,
  ],
  [
    'another MAC on the host',
    ({ outside, port }) => outside('link', 'set', port, 'address', '02:00:00:00:00:98'),
    /veth\w+ should have the hardware address/,
  ],
  [
    'another MAC of the gateway',
    ({ outside }) => outside('link', 'set', 'br0', 'address', '02:00:00:00:00:97'),
    /br0 should have the hardware address/,
  ],
  [
    'IPv4 address missing',
    ({ inside }) => inside('address', 'delete', '10.1.2.2/24', 'dev', 'eth0'),
    /address 10\.1\.2\.2\/24 is missing on eth0/,
  ],
  [
    'IPv6 address missing',
    ({ inside }) => inside('address', 'delete', 'fd00::2/64', 'dev', 'eth0'),
    /address fd00::2\/64 is missing on eth0/,
  ],
  [
    'route to the network missing',
    ({ inside }) => inside('route', 'delete', '10.1.2.0/24', 'dev', 'eth0'),
    /the route to 10\.1\.2\.0\/24 is missing on eth0/,
  ],
  [
    'default route missing',
    ({ inside }) => inside('route', 'delete', 'default'),
    /the route to 0\.0\.0\.0\/0/,
  ],
  [
    'IPv6 default route missing',
    ({ inside }) => inside('-6', 'route', 'delete', 'default'),
    /the route to ::\/0 via fd00::1 is missing/,
  ],
  ['route missing', ({ inside }) => inside('route', 'delete', '192.0.2.0/24'), /192\.0\.2\.0\/24 is missing/],
  [
    'route by another gateway',
    ({ inside }) => inside('-6', 'route', 'replace', '2001:db8:9::/48', 'via', 'fd00::8', 'dev', 'eth0'),
    /2001:db8:9::\/48 via fd00::9 is missing/,
  ],
  [
    'gateway address missing',
    ({ outside }) => outside('address', 'delete', 'fd00::1/64', 'dev', 'br0'),
    /the gateway's address fd00::1\/64 is missing on br0/,
  ],
  ['reservation missing', ({ ipam }) => ipam.held.clear(), /stub: net1\/c1\/eth0 holds no address/],
  [
    'port flag changed',
    ({ outside, port }) => outside('link', 'set', port, 'type', 'bridge_slave', 'isolated', 'on'),
    /should not be isolated/,
  ],
  ['nft elements missing', ({ lab }) => lab.host.run('nft', 'flush', 'ruleset'), /masquerading.*missing/],
];

for (const [what, make, said] of DRIFTS) {
  test(`CHECK finds drift: ${what}`, async () => {
    await withAttachment(async (scene) => {
      const request = { config, container: scene.container, prevResult: scene.result };
      await scene.lab.check(request);
      make(scene);
      await assert.rejects(scene.lab.check(request), { msg: said, cniCode: 150 });
    });
  });
}

test('CHECK reports everything that is different at once', async () => {
  await withAttachment(async ({ lab, container, result, inside, outside, port }) => {
    inside('address', 'delete', '10.1.2.2/24', 'dev', 'eth0');
    outside('link', 'set', port, 'nomaster');
    const checked = lab.check({ config, container, prevResult: result });
    await assert.rejects(checked, { msg: /should be a port of br0; address 10\.1\.2\.2\/24 is missing/ });
  });
});

test('CHECK lets pass what others add: addresses, routes, other tables, a sniffer, a larger result', async () => {
  await withAttachment(async ({ lab, container, result, inside, outside }) => {
    inside('address', 'add', '10.9.9.9/24', 'dev', 'eth0');
    inside('route', 'add', '198.51.100.0/24', 'via', '10.1.2.1');
    inside('route', 'delete', '192.0.2.0/24');
    inside('route', 'add', '192.0.2.0/24', 'via', '10.1.2.1', 'table', '100');
    outside('link', 'set', 'br0', 'promisc', 'on');
    const prevResult = {
      ...result,
      interfaces: [...(result.interfaces ?? []), { name: 'vrf0', sandbox: container.path }],
    };
    await lab.check({ config, container, prevResult });
  });
});

test('CHECK without a previous result, and with one of another namespace', async () => {
  await withAttachment(async ({ lab, container, result }) => {
    await assert.rejects(lab.check({ config, container }), { msg: 'Required prevResult missing' });
    const elsewhere = {
      ...result,
      interfaces: result.interfaces?.map((entry) =>
        entry.sandbox ? { ...entry, sandbox: '/run/netns/x' } : entry,
      ),
    };
    const checked = lab.check({ config, container, prevResult: elsewhere });
    await assert.rejects(checked, { msg: /sandbox mismatch/ });
  });
});

async function withAttachment(run: (scene: Scene) => Promise<void>): Promise<void> {
  const ipam = new StubIpam(answer);
  using lab = new PluginLab([bridge, ipam.plugin]);
  const container = lab.container();
  const result = await lab.add({ config, container });
  const port = result.interfaces?.[1]?.name ?? '';
  const inside = (...args: readonly string[]) => container.run('ip', ...args);
  const outside = (...args: readonly string[]) => lab.host.run('ip', ...args);
  await run({ lab, ipam, container, result, port, inside, outside });
}
