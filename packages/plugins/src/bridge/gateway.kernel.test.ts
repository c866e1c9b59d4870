/** The gateway on the bridge: its addresses, its hardware address, and the routes that lead to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IpConfig } from '@heddle/cni';
import { type Container, PluginLab, StubIpam, type TestNetns } from '../testing/index.ts';
import { bridge } from './index.ts';

const config = { type: 'bridge', bridge: 'br0', isGateway: true, ipam: { type: 'stub' } };

interface RouteInfo {
  readonly dst: string;
  readonly gateway?: string;
  readonly scope?: string;
  readonly metrics?: readonly Record<string, number>[];
}

const routesOf = (netns: TestNetns, family: '-4' | '-6') =>
  netns.json('ip', '-j', family, 'route', 'show', 'dev', 'eth0') as RouteInfo[];

async function macOf(lab: PluginLab): Promise<string> {
  return `${(await lab.host.session.links.get('br0')).mac}`;
}

async function bridgeAddresses(lab: PluginLab): Promise<readonly string[]> {
  const addresses = await lab.host.session.addresses.list({ link: 'br0' });
  return addresses.map(({ prefix }) => `${prefix}`).filter((text) => !text.startsWith('fe80:'));
}

for (const [what, present, address, conflict] of [
  ['another IPv4 subnet', '10.9.0.1/16', '10.1.2.2/24', true],
  ['the same IPv4 subnet, another address', '10.1.2.9/24', '10.1.2.2/24', true],
  ['an overlapping IPv6 subnet', '2001:db8::99/32', '2001:db8::2/64', true],
  ['a disjoint IPv6 subnet', '2001:db8:1::1/64', '2001:db8:2::2/64', false],
  ['another family', '10.9.0.1/16', '2001:db8::2/64', false],
] as const) {
  test(`the bridge has an address in ${what}: ${conflict ? 'a conflict, unless forceAddress' : 'no conflict'}`, async () => {
    using lab = new PluginLab([bridge, new StubIpam({ ips: [{ address }] }).plugin]);
    lab.host.run('ip', 'link', 'add', 'br0', 'type', 'bridge');
    lab.host.run('ip', 'address', 'add', present, 'dev', 'br0');
    const container = lab.container();
    const gateway = address.replace('2/', '1/');
    if (conflict) {
      await assert.rejects(lab.add({ config, container }), {
        msg: `"br0" already has an IP address different from ${gateway}`,
        cniCode: 141,
      });
      assert.deepEqual(await bridgeAddresses(lab), [present]);
      await lab.add({ config: { ...config, forceAddress: true }, container });
      assert.deepEqual(await bridgeAddresses(lab), [gateway]);
    } else {
      await lab.add({ config, container });
      assert.deepEqual((await bridgeAddresses(lab)).toSorted(), [gateway, present].toSorted());
    }
  });
}

test("the bridge's hardware address never changes, whatever its ports have, and no ping is lost", async () => {
  let next = 1;
  const ipam = new StubIpam(() => {
    next++;
    return { ips: [{ address: `10.1.2.${next}/24` }] };
  });
  using lab = new PluginLab([bridge, ipam.plugin]);
  const pinger = lab.container('pinger');
  await lab.add({ config, container: pinger });
  const mac = await macOf(lab);
  const others: Container[] = [];
  for (let index = 0; index < 10; index++) {
    const container = lab.container();
    const { interfaces = [] } = await lab.add({ config, container });
    // The lowest address that a port may have.
    if (index === 5)
      lab.host.run('ip', 'link', 'set', interfaces[1]?.name ?? '', 'address', '00:00:5e:00:53:01');
    assert.equal(await macOf(lab), mac);
    assert.ok(pinger.pings('10.1.2.1'));
    others.push(container);
  }
  for (const container of [...others.slice(5), ...others.slice(0, 5)]) {
    await lab.del({ config, container });
    assert.equal(await macOf(lab), mac);
    assert.ok(pinger.pings('10.1.2.1'));
  }
});

test('a layer 2 bridge keeps its hardware address too; one that somebody else made is not touched', async () => {
  using lab = new PluginLab([bridge]);
  const layer2 = { type: 'bridge', bridge: 'br0' };
  const first = lab.container();
  await lab.add({ config: layer2, container: first });
  const mac = await macOf(lab);
  for (let index = 0; index < 5; index++) await lab.add({ config: layer2, container: lab.container() });
  await lab.del({ config: layer2, container: first });
  assert.equal(await macOf(lab), mac);

  lab.host.run('ip', 'link', 'add', 'br1', 'address', '02:00:00:00:00:01', 'type', 'bridge');
  await lab.add({ config: { ...layer2, bridge: 'br1' }, container: lab.container() });
  assert.equal(`${(await lab.host.session.links.get('br1')).mac}`, '02:00:00:00:00:01');
});

test('a bridge without ports and without a hardware address of its own becomes a gateway', async () => {
  using lab = new PluginLab([bridge, new StubIpam({ ips: [{ address: '10.1.2.2/24' }] }).plugin]);
  lab.host.run('ip', 'link', 'add', 'br0', 'type', 'bridge');
  const container = lab.container();
  const result = await lab.add({ config, container });
  assert.equal(result.interfaces?.[0]?.mac, await macOf(lab));
  await lab.check({ config, container, prevResult: result });
  assert.ok(container.pings('10.1.2.1'));
});

test('every hardware address of the result is the one in the kernel, and CHECK agrees', async () => {
  using lab = new PluginLab([bridge]);
  const layer2 = { type: 'bridge', bridge: 'br0' };
  for (let round = 0; round < 25; round++) {
    const container = lab.container();
    const prevResult = await lab.add({ config: layer2, container });
    const [bridgeEntry, port, inside] = prevResult.interfaces ?? [];
    const actual = [
      await lab.host.session.links.get(bridgeEntry?.name ?? ''),
      await lab.host.session.links.get(port?.name ?? ''),
      await container.session.links.get('eth0'),
    ].map(({ mac }) => `${mac}`);
    assert.deepEqual([bridgeEntry?.mac, port?.mac, inside?.mac], actual);
    await lab.check({ config: layer2, container, prevResult });
  }
});

test('a default route of IPAM that names no gateway is not made twice', async () => {
  const ipam = new StubIpam({ ips: [{ address: '10.1.2.2/24' }], routes: [{ dst: '0.0.0.0/0' }] });
  using lab = new PluginLab([bridge, ipam.plugin]);
  const container = lab.container();
  const isDefault = { ...config, isDefaultGateway: true };
  const { routes } = await lab.add({ config: isDefault, container });
  assert.deepEqual(routes, [{ dst: '0.0.0.0/0' }]);
  assert.deepEqual(
    routesOf(container, '-4').map(({ dst, gateway }) => [dst, gateway]),
    [
      ['default', '10.1.2.1'],
      ['10.1.2.0/24', undefined],
    ],
  );
});

for (const [what, ip, dst] of [
  ['IPv6', { address: '2001:db8:5:333::2/64', gateway: '2001:db8:5::1' }, '::/0'],
  ['IPv6, link-local', { address: '2001:db8:5:333::2/64', gateway: 'fe80::1' }, '::/0'],
  ['IPv4', { address: '192.0.2.2/24', gateway: '198.51.100.1' }, '0.0.0.0/0'],
] as const satisfies readonly (readonly [string, IpConfig, string])[]) {
  test(`a gateway outside the container's network works: ${what}`, async () => {
    const ipam = new StubIpam({ ips: [ip], routes: [{ dst }] });
    using lab = new PluginLab([bridge, ipam.plugin]);
    // The gateway is a router of the network's own, not this host.
    const flat = { type: 'bridge', bridge: 'br0', ipam: { type: 'stub' } };
    const container = lab.container();
    const prevResult = await lab.add({ config: flat, container });
    const [length] = ip.address.split('/').slice(1);
    const own = await container.session.addresses.list({ link: 'eth0' });
    assert.ok(own.some(({ prefix }) => `${prefix}` === ip.address && `${prefix.bits}` === length));
    const found = routesOf(container, ip.address.includes(':') ? '-6' : '-4').find(
      (route) => route.dst === 'default',
    );
    assert.equal(found?.gateway, ip.gateway);
    await lab.check({ config: flat, container, prevResult });
  });
}

test('routes with metrics, a priority, a table, and two ways to one place', async () => {
  const routes = [
    { dst: '192.0.2.0/24', mtu: 1300, advmss: 1260, priority: 7 },
    { dst: '198.51.100.0/24', table: 100 },
    { dst: '203.0.113.0/24', gw: '10.1.2.1' },
    { dst: '203.0.113.0/24', gw: '10.1.2.9' },
    { dst: '2001:db8:9::/48', gw: 'fd00::1' },
    { dst: '2001:db8:9::/48', gw: 'fd00::9' },
  ];
  const ips = [{ address: '10.1.2.2/24' }, { address: 'fd00::2/64' }];
  using lab = new PluginLab([bridge, new StubIpam({ ips, routes }).plugin]);
  const container = lab.container();
  const prevResult = await lab.add({ config, container });
  assert.deepEqual(prevResult.routes, routes);
  const text = container.run('ip', 'route', 'show', 'table', 'all');
  assert.match(text, /192\.0\.2\.0\/24 via 10\.1\.2\.1 dev eth0 metric 7 mtu 1300 advmss 1260/);
  assert.match(text, /198\.51\.100\.0\/24 via 10\.1\.2\.1 dev eth0 table 100/);
  for (const gateway of ['10.1.2.1', '10.1.2.9', 'fd00::1', 'fd00::9'])
    assert.match(text, new RegExp(`via ${gateway} dev`));
  await lab.check({ config, container, prevResult });
});

test('forwarding is switched on for the families that have a gateway, and only then', async () => {
  const ipam = new StubIpam({ ips: [{ address: 'fd00::2/64' }] });
  using lab = new PluginLab([bridge, ipam.plugin]);
  const { sysctl } = lab.host.session;
  // A namespace inherits this from the machine.
  await sysctl.write('net/ipv4/ip_forward', '0');
  await lab.add({ config: { ...config, isGateway: false }, container: lab.container() });
  assert.equal(await sysctl.read('net/ipv6/conf/all/forwarding'), '0');
  await lab.add({ config, container: lab.container(), ifName: 'eth1' });
  assert.equal(await sysctl.read('net/ipv6/conf/all/forwarding'), '1');
  assert.equal(await sysctl.read('net/ipv4/ip_forward'), '0');
});

test("the configuration's dns wins over IPAM's", async () => {
  const ipam = new StubIpam({ ips: [{ address: '10.1.2.2/24' }], dns: { nameservers: ['192.0.2.53'] } });
  using lab = new PluginLab([bridge, ipam.plugin]);
  const dnsOf = async (dns?: object) =>
    (await lab.add({ config: { ...config, dns }, container: lab.container() })).dns;
  assert.deepEqual(await dnsOf(), { nameservers: ['192.0.2.53'] });
  assert.deepEqual(await dnsOf({ search: ['example.org'] }), { search: ['example.org'] });
  assert.equal(await dnsOf({ nameservers: [] }), undefined);
});
