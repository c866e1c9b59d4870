/** ADD and DEL at every version, and what is in the kernel in between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CNI_VERSIONS } from '@heddle/cni';
import { Addr } from '@heddle/netaddr';
import { hostLocal } from '../host-local/index.ts';
import { PluginLab, StubIpam, type TestNetns, UdpEndpoint } from '../testing/index.ts';
import { ptp } from './index.ts';

const config = { type: 'ptp', ipam: { type: 'stub' } };
const V4 = { address: '10.1.2.2/24', gateway: '10.1.2.1' };
const V6 = { address: '2001:db8::2/64', gateway: '2001:db8::1' };
const DEFAULTS = [{ dst: '0.0.0.0/0' }, { dst: '::/0' }];

function routesOf(netns: TestNetns, family: '-4' | '-6', ...which: readonly string[]): readonly string[] {
  return netns
    .run('ip', family, 'route', 'show', ...which)
    .split('\n')
    .map((line) => line.replace(/ (metric 1024|pref medium|linkdown)/g, '').trim())
    .filter((line) => line !== '' && !line.startsWith('fe80::'));
}

for (const cniVersion of CNI_VERSIONS) {
  for (const [what, ips] of [
    ['IPv4', [V4]],
    ['IPv6', [V6]],
    ['dual stack', [V4, V6]],
  ] as const) {
    test(`${cniVersion}, ${what}: ADD, CHECK, DEL twice`, async () => {
      const routes = DEFAULTS.filter(({ dst }) =>
        ips.some(({ address }) => address.includes(':') === dst.includes(':')),
      );
      using lab = new PluginLab([ptp, new StubIpam({ ips, routes }).plugin]);
      const container = lab.container();
      const request = { config: { ...config, cniVersion }, container };
      const { stdout, exitCode } = await lab.run({ ...request, command: 'ADD' });
      assert.equal(exitCode, 0, stdout);
      const prevResult = JSON.parse(stdout);
      for (const { address, gateway } of ips) {
        assert.ok(container.pings(gateway), `${gateway} answers`);
        assert.ok(lab.host.pings(address.split('/')[0] ?? ''), `${address} answers`);
      }
      const inside = await container.session.links.get('eth0');
      const [outside] = await lab.host.session.links.list({ kind: 'veth' });
      if (cniVersion !== '0.1.0' && cniVersion !== '0.2.0') {
        assert.deepEqual(prevResult.interfaces, [
          { name: outside?.name, mac: `${outside?.mac}` },
          { name: 'eth0', mac: `${inside.mac}`, sandbox: container.path },
        ]);
        assert.ok(prevResult.ips.every((ip: { interface: number }) => ip.interface === 1));
      }
      // CHECK came with 0.4.0.
      if (CNI_VERSIONS.indexOf(cniVersion) >= 4) await lab.check({ ...request, prevResult });
      for (let time = 0; time < 2; time++) {
        await lab.del({ ...request, prevResult });
        assert.deepEqual(await container.session.links.list({ kind: 'veth' }), []);
        assert.deepEqual(await lab.host.session.links.list({ kind: 'veth' }), []);
      }
    });
  }
}

test('all that the container sends goes by the host, and the host finds the container', async () => {
  using lab = new PluginLab([ptp, new StubIpam({ ips: [V4, V6], routes: DEFAULTS }).plugin]);
  const container = lab.container('pod-1');
  const args = 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web';
  const { interfaces = [] } = await lab.add({ config: { ...config, mtu: 1420 }, container, args });
  const port = interfaces[0]?.name ?? '';
  assert.deepEqual(routesOf(container, '-4'), [
    'default via 10.1.2.1 dev eth0',
    '10.1.2.0/24 via 10.1.2.1 dev eth0 src 10.1.2.2',
    '10.1.2.1 dev eth0 scope link src 10.1.2.2',
  ]);
  assert.deepEqual(routesOf(container, '-6'), [
    '2001:db8::1 dev eth0 src 2001:db8::2',
    '2001:db8::/64 via 2001:db8::1 dev eth0 src 2001:db8::2',
    'default via 2001:db8::1 dev eth0',
  ]);
  assert.deepEqual(routesOf(lab.host, '-4'), [`10.1.2.2 dev ${port} scope host`]);
  assert.ok(routesOf(lab.host, '-6').includes(`2001:db8::2 dev ${port}`));
  const own = (await lab.host.session.addresses.list({ link: port })).map(({ prefix }) => `${prefix}`);
  assert.deepEqual(
    own.filter((text) => !text.startsWith('fe80')),
    ['10.1.2.1/32', '2001:db8::1/128'],
  );
  const { mtu, alias } = await lab.host.session.links.get(port);
  assert.deepEqual([mtu, (await container.session.links.get('eth0')).mtu], [1420, 1420]);
  assert.equal(alias, 'heddle:{"net":"net1","id":"pod-1","if":"eth0","ns":"shop","pod":"web"}');
  for (const name of ['net/ipv4/ip_forward', 'net/ipv6/conf/all/forwarding']) {
    assert.equal(await lab.host.session.sysctl.read(name), '1');
  }
});

test('no IPv6 address is tentative when ADD returns (containernetworking/plugins#680)', async () => {
  using lab = new PluginLab([ptp, new StubIpam({ ips: [V6], routes: [{ dst: '::/0' }] }).plugin]);
  const container = lab.container();
  const { interfaces = [] } = await lab.add({ config, container });
  for (const [session, name] of [
    [container.session, 'eth0'],
    [lab.host.session, interfaces[0]?.name ?? ''],
  ] as const) {
    const own = (await session.addresses.list({ link: name })).filter(({ scope }) => scope === 0);
    assert.deepEqual(
      own.map(({ tentative }) => tentative),
      [false],
    );
  }
  using _bound = new UdpEndpoint(container.handle, Addr.parse('2001:db8::2'), 5000);
});

test('two containers of one network reach each other by the host', async () => {
  let next = 1;
  const ipam = new StubIpam(() => {
    next++;
    return {
      ips: [
        { ...V4, address: `10.1.2.${next}/24` },
        { ...V6, address: `2001:db8::${next}/64` },
      ],
    };
  });
  using lab = new PluginLab([ptp, ipam.plugin]);
  const [one, two] = [lab.container(), lab.container()];
  for (const container of [one, two]) await lab.add({ config, container });
  assert.ok(one.pings('10.1.2.3') && two.pings('10.1.2.2'), 'IPv4');
  assert.ok(one.pings('2001:db8::3') && two.pings('2001:db8::2'), 'IPv6');
});

test('two addresses of one network share their gateway', async () => {
  const ips = [V4, { ...V4, address: '10.1.2.3/24' }];
  using lab = new PluginLab([ptp, new StubIpam({ ips }).plugin]);
  const container = lab.container();
  const prevResult = await lab.add({ config, container });
  assert.ok(lab.host.pings('10.1.2.2') && lab.host.pings('10.1.2.3'));
  await lab.check({ config, container, prevResult });
});

test("a gateway outside the container's network, and a route by another one", async () => {
  const ips = [
    { address: '192.0.2.7/32', gateway: '169.254.1.1' },
    { address: 'fd00::7/128', gateway: 'fe80::1' },
  ];
  const routes = [...DEFAULTS, { dst: '198.51.100.0/24', gw: '169.254.1.2' }];
  using lab = new PluginLab([ptp, new StubIpam({ ips, routes }).plugin]);
  const container = lab.container();
  const prevResult = await lab.add({ config, container });
  await lab.check({ config, container, prevResult });
  assert.ok(lab.host.pings('192.0.2.7') && lab.host.pings('fd00::7'));
  assert.ok(container.pings('169.254.1.1'));
});

test('networks of two addresses, and of one (containernetworking/plugins#908)', async () => {
  using lab = new PluginLab([ptp, hostLocal]);
  const ranges = [[{ subnet: '192.0.2.0/31' }], [{ subnet: '2001:db8::/127' }]];
  const ipam = { type: 'host-local', dataDir: lab.directory, ranges };
  const container = lab.container();
  const { ips } = await lab.add({ config: { type: 'ptp', ipam }, container });
  assert.deepEqual(ips, [
    { address: '192.0.2.1/31', gateway: '192.0.2.0', interface: 1 },
    { address: '2001:db8::1/127', gateway: '2001:db8::', interface: 1 },
  ]);
  assert.ok(container.pings('192.0.2.0') && lab.host.pings('2001:db8::1'));
  await assert.rejects(lab.add({ config: { type: 'ptp', ipam }, container: lab.container() }), {
    cniCode: 11,
  });

  const single = [
    [{ subnet: '198.51.100.5/32', gateway: '169.254.1.1' }],
    [{ subnet: 'fd00::5/128', gateway: 'fe80::1' }],
  ];
  const name = 'net2';
  const other = lab.container();
  await lab.add({
    config: { type: 'ptp', name, ipam: { ...ipam, ranges: single, routes: DEFAULTS } },
    container: other,
  });
  assert.ok(lab.host.pings('198.51.100.5') && lab.host.pings('fd00::5'));
});

test('an address without a gateway is refused before anything is made', async () => {
  using lab = new PluginLab([ptp, new StubIpam({ ips: [{ address: '192.0.2.7/32' }] }).plugin]);
  const container = lab.container();
  await assert.rejects(lab.add({ config, container }), {
    cniCode: 7,
    msg: /192\.0\.2\.7\/32 has no gateway/,
  });
  assert.deepEqual(await lab.host.session.links.list({ kind: 'veth' }), []);
});

test('a route to the address that somebody left is replaced, with a warning', async () => {
  using lab = new PluginLab([ptp, new StubIpam({ ips: [V4, V6] }).plugin]);
  lab.host.run('ip', 'link', 'add', 'old0', 'type', 'veth', 'peer', 'name', 'old1');
  for (const end of ['old0', 'old1']) lab.host.run('ip', 'link', 'set', end, 'up');
  lab.host.run('ip', 'route', 'add', '10.1.2.2/32', 'dev', 'old0', 'scope', 'host');
  lab.host.run('ip', 'route', 'add', '2001:db8::2/128', 'dev', 'old0');
  const { exitCode, stderr } = await lab.run({ command: 'ADD', config, container: lab.container() });
  assert.equal(exitCode, 0);
  assert.match(stderr, /replaced the host's route to 10\.1\.2\.2\/32, which was on old0/);
  assert.match(stderr, /replaced the host's route to 2001:db8::2\/128, which was on old0/);
  assert.ok(lab.host.pings('10.1.2.2') && lab.host.pings('2001:db8::2'));
});

test("whose name resolution: the configuration's where it has any, else IPAM's", async () => {
  const dns = { nameservers: ['192.0.2.53'], search: ['ipam.example'] };
  using lab = new PluginLab([ptp, new StubIpam({ ips: [V4], dns }).plugin]);
  for (const [configured, expected] of [
    [undefined, dns],
    [{}, dns],
    [{ nameservers: ['192.0.2.54'] }, { nameservers: ['192.0.2.54'] }],
    [{ domain: 'example' }, { domain: 'example' }],
    [{ search: ['a.example'] }, { search: ['a.example'] }],
    [{ options: ['ndots:2'] }, { options: ['ndots:2'] }],
  ] as const) {
    const container = lab.container();
    const result = await lab.add({ config: { ...config, dns: configured }, container });
    assert.deepEqual(result.dns, expected);
    await lab.del({ config, container });
  }
  const empty = { nameservers: [], search: [], options: [] };
  const result = await lab.add({ config: { ...config, dns: empty }, container: lab.container() });
  assert.deepEqual(Object.values(result.dns ?? {}).flat(), []);
});

test('an interface of that name is refused, as the reference says it, and stays', async () => {
  const ipam = new StubIpam({ ips: [V4] });
  using lab = new PluginLab([ptp, ipam.plugin]);
  const container = lab.container();
  container.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'other0');
  await assert.rejects(lab.add({ config, container }), {
    msg: /^container veth name \("eth0"\) peer provided \("veth[0-9a-f]{8}"\) already exists$/,
  });
  assert.ok(await container.session.links.find('eth0'));
  assert.equal(ipam.held.size, 0);
});

test('a backend that nobody knows is refused by ADD and by STATUS', async () => {
  using lab = new PluginLab([ptp, new StubIpam({ ips: [V4] }).plugin]);
  const wrong = { ...config, ipMasq: true, ipMasqBackend: 'ebtables' };
  await assert.rejects(lab.add({ config: wrong, container: lab.container() }), { cniCode: 7 });
  await assert.rejects(lab.status(wrong), { cniCode: 7, msg: /unknown ipMasqBackend "ebtables"/ });
  await lab.status(config);
});

test('a second ADD is refused before address management is asked, which would then be told to release', async () => {
  const ipam = new StubIpam({ ips: [V4], routes: DEFAULTS });
  using lab = new PluginLab([ptp, ipam.plugin]);
  const container = lab.container();
  await lab.add({ config, container });
  const asked = [...ipam.commands];
  await assert.rejects(lab.add({ config, container }), { cniCode: 141 });
  assert.deepEqual(ipam.commands, asked);
});
