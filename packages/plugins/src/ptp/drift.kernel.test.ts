/** CHECK finds each kind of drift, and lets pass what other plugins of the chain may have done. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Container, PluginLab, StubIpam } from '../testing/index.ts';
import { ptp } from './index.ts';

const config = { type: 'ptp', ipMasq: true, ipam: { type: 'stub' } };
const answer = {
  ips: [
    { address: '10.1.2.2/24', gateway: '10.1.2.1' },
    { address: 'fd00::2/64', gateway: 'fd00::1' },
  ],
  routes: [{ dst: '0.0.0.0/0' }, { dst: '2001:db8:9::/48' }],
};

interface Scene {
  readonly lab: PluginLab;
  readonly container: Container;
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
    'host end under another name',
    ({ outside, port }) => outside('link', 'set', port, 'down', 'name', 'hd0'),
    /prevResult does not have hd0/,
  ],
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
    'address missing',
    ({ inside }) => inside('address', 'delete', 'fd00::2/64', 'dev', 'eth0'),
    /address fd00::2\/64 is missing on eth0/,
  ],
  [
    'route to the network missing',
    ({ inside }) => inside('route', 'delete', '10.1.2.0/24'),
    /the route to 10\.1\.2\.0\/24 is missing on eth0/,
  ],
  [
    'route to the gateway missing',
    ({ inside }) => inside('route', 'delete', '10.1.2.1'),
    /the route to 10\.1\.2\.1\/32 is missing on eth0/,
  ],
  [
    "result's route missing",
    ({ inside }) => inside('route', 'delete', '2001:db8:9::/48'),
    /the route to 2001:db8:9::\/48 is missing on eth0/,
  ],
  [
    "gateway's address missing",
    ({ outside, port }) => outside('address', 'delete', 'fd00::1/128', 'dev', port),
    /the gateway's address fd00::1\/128 is missing on veth/,
  ],
  [
    "host's IPv4 route missing",
    ({ outside }) => outside('route', 'delete', '10.1.2.2'),
    /the route to 10\.1\.2\.2\/32 is missing on veth/,
  ],
  [
    "host's IPv6 route missing",
    ({ outside }) => outside('route', 'delete', 'fd00::2'),
    /the route to fd00::2\/128 is missing on veth/,
  ],
  ['rules missing', ({ lab }) => lab.host.run('nft', 'flush', 'ruleset'), /masquerading of/],
];

async function scene(): Promise<Scene & { readonly prevResult: object }> {
  const lab = new PluginLab([ptp, new StubIpam(answer).plugin]);
  const container = lab.container();
  const prevResult = await lab.add({ config, container });
  return {
    ...{ lab, container, prevResult, port: prevResult.interfaces?.[0]?.name ?? '' },
    inside: (...args) => container.run('ip', ...args),
    outside: (...args) => lab.host.run('ip', ...args),
  };
}

for (const [what, make, said] of DRIFTS) {
  test(`CHECK finds: ${what}`, async () => {
    const made = await scene();
    using lab = made.lab;
    const request = { config, container: made.container, prevResult: made.prevResult };
    await lab.check(request);
    make(made);
    await assert.rejects(lab.check(request), { cniCode: 150, msg: said });
  });
}

test('CHECK accepts what a chain adds: addresses, routes, another table', async () => {
  const made = await scene();
  using lab = made.lab;
  made.inside('address', 'add', '192.0.2.9/32', 'dev', 'eth0');
  made.inside('route', 'add', '198.51.100.0/24', 'via', '10.1.2.1');
  made.inside('route', 'add', 'default', 'via', '10.1.2.1', 'dev', 'eth0', 'table', '100');
  made.inside('route', 'delete', 'default', 'table', 'main');
  await lab.check({ config, container: made.container, prevResult: made.prevResult });
});

test('CHECK needs the previous result, of this namespace', async () => {
  const made = await scene();
  using lab = made.lab;
  await assert.rejects(lab.check({ config, container: made.container }), {
    msg: 'Required prevResult missing',
  });
  const prevResult = { ...made.prevResult, interfaces: [{ name: 'eth0', sandbox: '/elsewhere' }] };
  await assert.rejects(lab.check({ config, container: made.container, prevResult }), {
    msg: /sandbox mismatch/,
  });
});
