/** ADD and DEL at every version, and what is in the kernel in between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CNI_VERSIONS, type Result } from '@heddle/cni';
import { PluginLab, StubIpam, type TestNetns } from '../testing/index.ts';
import { bridge } from './index.ts';

const base = { type: 'bridge', bridge: 'br0' };
const layer3 = { ...base, isDefaultGateway: true, ipam: { type: 'stub' } };
const V4 = { address: '10.1.2.2/24', gateway: '10.1.2.1' };
const V6 = { address: '2001:db8::2/64', gateway: '2001:db8::1' };

interface AddressInfo {
  readonly family: string;
  readonly local: string;
  readonly prefixlen: number;
  readonly scope: string;
}

function addressesOf(netns: TestNetns, link: string): readonly string[] {
  const [found] = netns.json('ip', '-j', 'address', 'show', 'dev', link) as { addr_info: AddressInfo[] }[];
  return (found?.addr_info ?? [])
    .filter(({ scope }) => scope === 'global')
    .map(({ local, prefixlen }) => `${local}/${prefixlen}`);
}

function defaultRoutes(netns: TestNetns): readonly string[] {
  return ['-4', '-6'].flatMap((family) =>
    (netns.json('ip', '-j', family, 'route', 'show', 'default') as { gateway: string }[]).map(
      ({ gateway }) => gateway,
    ),
  );
}

for (const cniVersion of CNI_VERSIONS) {
  for (const [what, ips] of [
    ['IPv4', [V4]],
    ['IPv6', [V6]],
    ['dual stack', [V4, V6]],
  ] as const) {
    test(`${cniVersion}, ${what}: ADD, CHECK, DEL twice`, async () => {
      using lab = new PluginLab([bridge, new StubIpam({ ips }).plugin]);
      const container = lab.container();
      const request = { config: { ...layer3, cniVersion }, container };
      const { stdout, exitCode } = await lab.run({ ...request, command: 'ADD' });
      assert.equal(exitCode, 0, stdout);
      const prevResult = JSON.parse(stdout);

      assert.deepEqual(
        addressesOf(container, 'eth0'),
        ips.map(({ address }) => address),
      );
      assert.deepEqual(
        defaultRoutes(container),
        ips.map(({ gateway }) => gateway),
      );
      assert.deepEqual(
        addressesOf(lab.host, 'br0'),
        ips.map(({ address, gateway }) => `${gateway}/${address.split('/')[1]}`),
      );
      for (const { gateway } of ips) assert.ok(container.pings(gateway), `${gateway} answers`);
      if (cniVersion.startsWith('0.1') || cniVersion.startsWith('0.2')) {
        assert.deepEqual(
          [prevResult.ip4?.ip, prevResult.ip6?.ip].filter(Boolean),
          ips.map(({ address }) => address),
        );
      } else {
        await assertInterfaces(lab.host, container, prevResult);
      }
      // CHECK came with 0.4.0.
      if (CNI_VERSIONS.indexOf(cniVersion) >= 4) await lab.check({ ...request, prevResult });

      await lab.del({ ...request, prevResult });
      assert.deepEqual(await container.session.links.list({ kind: 'veth' }), []);
      assert.deepEqual(await lab.host.session.links.list({ kind: 'veth' }), []);
      await lab.del({ ...request, prevResult });
    });
  }
}

async function assertInterfaces(
  host: TestNetns,
  container: TestNetns,
  { interfaces = [] }: Result,
): Promise<void> {
  const [bridgeEntry, port, inside] = interfaces;
  assert.equal(interfaces.length, 3);
  assert.deepEqual([bridgeEntry?.name, bridgeEntry?.sandbox], ['br0', undefined]);
  assert.match(port?.name ?? '', /^veth[0-9a-f]{8}$/);
  assert.deepEqual([inside?.name, inside?.sandbox], ['eth0', container.path]);
  assert.equal(bridgeEntry?.mac, `${(await host.session.links.get('br0')).mac}`);
  assert.equal(port?.mac, `${(await host.session.links.get(port?.name ?? '')).mac}`);
  assert.equal(inside?.mac, `${(await container.session.links.get('eth0')).mac}`);
  assert.equal(new Set(interfaces.map(({ mac }) => mac)).size, 3);
}

test('three subnets', async () => {
  const ips = [V4, V6, { address: 'fd00:1::2/64', gateway: 'fd00:1::1' }];
  const ipam = new StubIpam({ ips });
  using lab = new PluginLab([bridge, ipam.plugin]);
  const container = lab.container();
  await lab.add({ config: layer3, container, ifName: 'net1' });
  assert.deepEqual(defaultRoutes(container), ['10.1.2.1', '2001:db8::1'], 'one default route a family');
  await lab.del({ config: layer3, container, ifName: 'net1' });
  assert.equal(ipam.held.size, 0);
});

test('several IPv4 gateways share the bridge', async () => {
  const ips = [V4, { address: '10.1.3.2/24', gateway: '10.1.3.1' }];
  using lab = new PluginLab([bridge, new StubIpam({ ips }).plugin]);
  for (const container of [lab.container(), lab.container()]) await lab.add({ config: layer3, container });
  assert.deepEqual(addressesOf(lab.host, 'br0'), ['10.1.2.1/24', '10.1.3.1/24']);
});

test('a layer 2 network, and the versions whose results cannot hold one', async () => {
  using lab = new PluginLab([bridge]);
  for (const cniVersion of CNI_VERSIONS) {
    const container = lab.container();
    const request = { config: { ...base, cniVersion }, container };
    if (cniVersion === '0.1.0' || cniVersion === '0.2.0') {
      await assert.rejects(lab.add(request), { msg: 'cannot convert: no valid IP addresses' });
      assert.equal(await container.session.links.find('eth0'), undefined);
    } else {
      const prevResult = await lab.add(request);
      assert.equal(prevResult.ips, undefined);
      assert.ok((await container.session.links.get('eth0')).running);
      if (cniVersion !== '0.3.0' && cniVersion !== '0.3.1') await lab.check({ ...request, prevResult });
    }
    await lab.del(request);
  }
});

test('an existing bridge is used as it is', async () => {
  using lab = new PluginLab([bridge]);
  await lab.host.session.links.add({ name: 'br0', kind: 'bridge', mtu: 1400 });
  const before = await lab.host.session.links.get('br0');
  await lab.add({ config: { ...base, mtu: 1400 }, container: lab.container() });
  const after = await lab.host.session.links.get('br0');
  assert.deepEqual([after.index, after.mtu, after.up], [before.index, 1400, true]);
});

test('the port: owner, flags, size, promiscuous bridge', async () => {
  using lab = new PluginLab([bridge]);
  const config = { ...base, mtu: 1420, portIsolation: true, promiscMode: true };
  const container = lab.container('pod-1');
  const args = 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web';
  const { interfaces = [] } = await lab.add({ config, container, args });
  const port = await lab.host.session.links.get(interfaces[1]?.name ?? '');
  assert.equal(port.alias, 'heddle:{"net":"net1","id":"pod-1","if":"eth0","ns":"shop","pod":"web"}');
  assert.deepEqual([port.mtu, port.port?.isolated, port.port?.hairpin], [1420, true, false]);
  assert.equal((await container.session.links.get('eth0')).mtu, 1420);
  assert.ok((await lab.host.session.links.get('br0')).promiscuity > 0);

  const hairpin = await lab.add({ config: { ...base, hairpinMode: true }, container: lab.container() });
  const other = await lab.host.session.links.get(hairpin.interfaces?.[1]?.name ?? '');
  assert.deepEqual([other.port?.hairpin, other.port?.isolated], [true, false]);
});

test('the hardware address that was asked for, and CNI_ARGS that are not known', async () => {
  using lab = new PluginLab([bridge]);
  const mac = '02:00:00:00:00:07';
  const { interfaces } = await lab.add({ config: base, container: lab.container(), args: `MAC=${mac}` });
  assert.equal(interfaces?.[2]?.mac, mac);
  const refused = lab.add({ config: base, container: lab.container(), args: 'mac=02:00:00:00:00:08' });
  await assert.rejects(refused, { msg: 'ARGS: unknown args ["mac=02:00:00:00:00:08"]' });
});

test('a container interface that stays down', async () => {
  using lab = new PluginLab([bridge]);
  const config = { ...base, disableContainerInterface: true };
  const container = lab.container();
  const prevResult = await lab.add({ config, container });
  assert.equal((await container.session.links.get('eth0')).up, false);
  await lab.check({ config, container, prevResult });
});

test('an interface of that name is refused, as the reference says it, and stays', async () => {
  using lab = new PluginLab([bridge]);
  const container = lab.container();
  container.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'other0');
  await assert.rejects(lab.add({ config: base, container }), {
    msg: /^container veth name \("eth0"\) peer provided \("veth[0-9a-f]{8}"\) already exists$/,
  });
  assert.ok(await container.session.links.find('eth0'));
  assert.deepEqual(await lab.host.session.links.list({ kind: 'veth' }), []);
});

test("a name that is no bridge's is refused, and STATUS says so before", async () => {
  using lab = new PluginLab([bridge]);
  lab.host.run('ip', 'link', 'add', 'br0', 'type', 'veth', 'peer', 'name', 'br1');
  await assert.rejects(lab.status(base), { cniCode: 50, msg: /"br0" already exists but is not a bridge/ });
  await assert.rejects(lab.add({ config: base, container: lab.container() }), { cniCode: 7 });
  await lab.status({ ...base, bridge: 'br2' });
});

test("what an ADD left that died is replaced; a stranger's link of that name is not", async () => {
  using lab = new PluginLab([bridge]);
  const container = lab.container();
  const first = await lab.add({ config: base, container });
  const name = first.interfaces?.[1]?.name ?? '';
  await lab.del({ config: base, container });

  // Left by an ADD of this attachment whose container is another one by now.
  lab.host.run('ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'stale0');
  const second = await lab.add({ config: base, container });
  assert.equal(second.interfaces?.[1]?.name, name);
  assert.equal(await lab.host.session.links.find('stale0'), undefined);
  await lab.del({ config: base, container });

  lab.host.run('ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'other0');
  lab.host.run('ip', 'link', 'set', name, 'alias', "somebody else's");
  const third = await lab.add({ config: base, container });
  assert.notEqual(third.interfaces?.[1]?.name, name);
  await lab.del({ config: base, container });
  assert.ok(await lab.host.session.links.find('other0'));
});

test('sixty-four ADDs at once on a network that is not there yet, and as many DELs', async () => {
  let next = 1;
  const ipam = new StubIpam(() => {
    next++;
    return { ips: [{ address: `10.1.2.${next}/24` }, { address: `fd00::${next.toString(16)}/64` }] };
  });
  using lab = new PluginLab([bridge, ipam.plugin]);
  const config = { ...layer3, ipMasq: true, macspoofchk: true };
  const requests = Array.from({ length: 64 }, () => ({ config, container: lab.container() }));
  const results = await Promise.all(requests.map((request) => lab.add(request)));
  const ports = await lab.host.session.links.list({ master: 'br0' });
  assert.equal(ports.length, 64);
  assert.equal(
    new Set(results.map(({ interfaces }) => interfaces?.[0]?.mac)).size,
    1,
    'one bridge, one address',
  );
  await Promise.all(requests.map((request, at) => lab.check({ ...request, prevResult: results[at] })));
  await Promise.all(requests.map((request, at) => lab.del({ ...request, prevResult: results[at] })));
  assert.deepEqual(await lab.host.session.links.list({ kind: 'veth' }), []);
  assert.equal(ipam.held.size, 0);
  assert.doesNotMatch(lab.host.run('nft', 'list', 'ruleset'), /net: net1/);
});
