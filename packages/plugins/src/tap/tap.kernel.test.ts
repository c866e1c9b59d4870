/** ADD, CHECK and DEL at every version, and what the device is like. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CNI_VERSIONS } from '@heddle/cni';
import { ioctl } from '@heddle/sys';
import { type Container, everyRequest, PluginLab, StubIpam } from '../testing/index.ts';
import { openCloneDevice } from './device.ts';
import { tap } from './index.ts';
import { tuntapArguments } from './labelled.ts';

const config = { type: 'tap' };
const withIpam = { ...config, ipam: { type: 'stub' } };
const IPV4 = { address: '10.1.2.2/24', gateway: '10.1.2.1' };
const ANSWER = {
  ips: [IPV4, { address: 'fd00::2/64', gateway: 'fd00::1' }],
  routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
};

interface IpLink {
  readonly mtu: number;
  readonly address: string;
  readonly master?: string;
  readonly linkinfo: { readonly info_kind: string; readonly info_data: Readonly<Record<string, unknown>> };
}

function ipLink(container: Container, name = 'eth0'): IpLink {
  const [link] = container.json('ip', '-j', '-d', 'link', 'show', name) as IpLink[];
  assert.ok(link);
  return link;
}

for (const cniVersion of CNI_VERSIONS) {
  test(`${cniVersion}: ADD, CHECK, DEL twice`, async () => {
    const ipam = new StubIpam(ANSWER);
    using lab = new PluginLab([tap, ipam.plugin]);
    const container = lab.container();
    const request = { config: { ...withIpam, owner: 0, group: 0, cniVersion }, container };
    const { stdout, exitCode } = await lab.run({ ...request, command: 'ADD' });
    assert.equal(exitCode, 0, stdout);
    const prevResult = JSON.parse(stdout);
    const { linkinfo, address } = ipLink(container);
    assert.equal(linkinfo.info_kind, 'tun');
    assert.equal(linkinfo.info_data['type'], 'tap');
    assert.equal((await container.session.links.get('eth0')).up, true);
    if (cniVersion !== '0.1.0' && cniVersion !== '0.2.0') {
      assert.deepEqual(prevResult.interfaces, [{ name: 'eth0', mac: address, sandbox: container.path }]);
    }
    const own = (await container.session.addresses.list({ link: 'eth0' })).filter(({ scope }) => scope === 0);
    assert.deepEqual(
      own.map(({ prefix }) => `${prefix}`),
      ['10.1.2.2/24', 'fd00::2/64'],
    );
    assert.ok(own.every(({ tentative }) => !tentative));
    if (CNI_VERSIONS.indexOf(cniVersion) >= 4) await lab.check({ ...request, prevResult });
    if (cniVersion === '1.1.0') await lab.status(request.config);
    for (let time = 0; time < 2; time++) {
      await lab.del({ ...request, prevResult });
      assert.equal(await container.session.links.find('eth0'), undefined);
      assert.equal(ipam.held.size, 0);
    }
  });
}

for (const [what, members, owner, group] of [
  ['nobody named', {}, undefined, undefined],
  ['an owner', { owner: 1000 }, 1000, undefined],
  ['a group', { group: 107 }, undefined, 107],
  ['both', { owner: 4_000_000_000, group: 0 }, 4_000_000_000, 0],
  ['null is nobody', { owner: null, group: 5 }, undefined, 5],
] as const) {
  test(`who may open it: ${what}; with its MTU and hardware address in every case`, async () => {
    using lab = new PluginLab([tap]);
    const container = lab.container();
    const more = { ...members, mtu: 1400, mac: '02:00:00:00:00:07' };
    const request = { config: { ...config, ...more }, container };
    const prevResult = await lab.add(request);
    const link = ipLink(container);
    assert.deepEqual([link.mtu, link.address], [1400, '02:00:00:00:00:07']);
    const { data } = await container.session.links.get('eth0');
    assert.ok(data?.kind === 'tun');
    assert.deepEqual([data.owner, data.ownerGroup, data.persistent], [owner, group, true]);
    assert.deepEqual(prevResult.interfaces?.[0]?.mac, '02:00:00:00:00:07');
    await lab.check({ ...request, prevResult });
  });
}

test('a machine opens it, with one queue or with several', async () => {
  using lab = new PluginLab([tap]);
  for (const multiQueue of [false, true]) {
    const container = lab.container();
    await lab.add({ config: { ...config, multiQueue }, container });
    using first = open(container, multiQueue);
    assert.equal((await container.session.links.get('eth0')).running, true, 'it has a carrier');
    if (multiQueue) {
      using second = open(container, multiQueue);
      assert.notEqual(second.number, first.number);
      assert.equal(ipLink(container).linkinfo.info_data['numqueues'], 2);
    } else {
      assert.throws(() => open(container, multiQueue), { errno: 'EBUSY' });
    }
  }
});

test('the hardware address: from the runtime, else CNI_ARGS, else the configuration', async () => {
  using lab = new PluginLab([tap]);
  const mac = (last: number) => `02:00:00:00:00:0${last}`;
  for (const [more, args, expected] of [
    [{ mac: mac(1) }, '', mac(1)],
    [{ mac: mac(1) }, `MAC=${mac(2)}`, mac(2)],
    [{ mac: mac(1), runtimeConfig: { mac: mac(3) } }, `MAC=${mac(2)}`, mac(3)],
    [{ RuntimeConfig: { mac: mac(3) } }, 'IgnoreUnknown=1;K8S_POD_NAME=x', mac(3)],
  ] as const) {
    const container = lab.container();
    await lab.add({ config: { ...config, ...more }, container, args });
    assert.equal(ipLink(container).address, expected);
  }
  const refused = lab.add({ config, container: lab.container(), args: 'mac=02:00:00:00:00:08' });
  await assert.rejects(refused, { msg: 'ARGS: unknown args ["mac=02:00:00:00:00:08"]' });
});

test('as port of a bridge in the container', async () => {
  using lab = new PluginLab([tap, new StubIpam({ ips: [IPV4] }).plugin]);
  const container = lab.container();
  container.run('ip', 'link', 'add', 'br1', 'type', 'bridge');
  const request = { config: { ...withIpam, bridge: 'br1' }, container };
  const prevResult = await lab.add(request);
  assert.equal(ipLink(container).master, 'br1');
  await lab.check({ ...request, prevResult });
  container.run('ip', 'link', 'set', 'eth0', 'nomaster');
  await assert.rejects(lab.check({ ...request, prevResult }), { msg: /eth0 should be a port of br1/ });
  await lab.del({ ...request, prevResult });
  for (const bridge of ['br2', 'lo']) {
    await assert.rejects(lab.add({ config: { ...config, bridge }, container }), {
      cniCode: 140,
      msg: new RegExp(`bridge ${bridge} in the container`),
    });
  }
});

test('an interface of that name is refused and stays: a tap device, another link', async () => {
  using lab = new PluginLab([tap]);
  for (const make of [
    ['tuntap', 'add', 'dev', 'eth0', 'mode', 'tap'],
    ['link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth1'],
  ]) {
    const container = lab.container();
    container.run('ip', ...make);
    const { index } = await container.session.links.get('eth0');
    await assert.rejects(lab.add({ config, container }), {
      cniCode: 141,
      msg: 'cannot make tap device eth0: the container has such an interface',
    });
    assert.equal((await container.session.links.get('eth0')).index, index);
    assert.equal((await container.session.links.list({ kind: 'tun' })).length, make[0] === 'tuntap' ? 1 : 0);
  }
});

test('a label where the kernel has none', async () => {
  using lab = new PluginLab([tap]);
  const container = lab.container();
  const request = { config: { ...config, selinuxContext: 'system_u:system_r:container_t:s0' }, container };
  const { exitCode, stderr } = await lab.run({ ...request, command: 'ADD' });
  assert.equal(exitCode, 0);
  assert.match(stderr, /selinuxContext has no effect/);
});

test('what ip is asked for makes the same device', async () => {
  using lab = new PluginLab([tap]);
  const [theirs, ours] = [lab.container(), lab.container()];
  for (const options of [{ multiQueue: false }, { multiQueue: true, owner: 1000, group: 107 }]) {
    await lab.add({ config: { ...config, ...options }, container: ours });
    theirs.run('ip', ...tuntapArguments('eth0', options));
    assert.deepEqual(ipLink(theirs).linkinfo, ipLink(ours).linkinfo);
    for (const container of [theirs, ours]) await lab.del({ config, container });
  }
});

test('DEL without a namespace, with a plain file there, and when IPAM fails', async () => {
  const ipam = new StubIpam({ ips: [IPV4] });
  using lab = new PluginLab([tap, ipam.plugin]);
  for (const netns of ['', '/run/netns/gone', '/etc/hostname']) {
    using container = lab.container('pod');
    await lab.add({ config: withIpam, container });
    await lab.del({ config: withIpam, container: { id: 'pod' }, netns });
    assert.equal(ipam.held.size, 0);
  }
  const container = lab.container('pod');
  await lab.add({ config: withIpam, container });
  ipam.failing.add('DEL');
  await assert.rejects(lab.del({ config: withIpam, container }), { msg: /stub: DEL fails as told/ });
  assert.equal(await container.session.links.find('eth0'), undefined);
});

test('an ADD that fails at any request to the kernel, or in IPAM, leaves nothing', async () => {
  const ipam = new StubIpam(ANSWER);
  using lab = new PluginLab([tap, ipam.plugin]);
  for (const sabotage of everyRequest()) {
    using container = lab.container('pod');
    const request = { config: withIpam, container };
    const { exitCode } = await lab.run({ ...request, command: 'ADD', wrap: sabotage.wrap });
    assert.ok(exitCode === 0 || sabotage.failed !== undefined, `${sabotage}`);
    if (exitCode === 0) await lab.del(request);
    assert.deepEqual(await container.session.links.list({ kind: 'tun' }), [], `${sabotage}`);
    assert.equal(ipam.held.size, 0, `${sabotage}`);
  }
  ipam.failing.add('ADD');
  const container = lab.container();
  await assert.rejects(lab.add({ config: withIpam, container }), { msg: /stub: ADD fails as told/ });
  assert.deepEqual(await container.session.links.list({ kind: 'tun' }), []);
  assert.equal(ipam.held.size, 0);
});

test('CHECK finds drift, GC asks IPAM', async () => {
  const ipam = new StubIpam(ANSWER);
  using lab = new PluginLab([tap, ipam.plugin]);
  const request = { config: { ...withIpam, owner: 1000 } };
  for (const [args, said] of [
    ['link set eth0 down', /link eth0 should be up/],
    ['link set eth0 address 02:00:00:00:00:09', /eth0 should have the hardware address/],
    ['address delete 10.1.2.2/24 dev eth0', /address 10\.1\.2\.2\/24 is missing/],
    ['route delete default', /the route to 0\.0\.0\.0\/0 is missing/],
    ['link delete eth0', /link eth0 is missing/],
  ] as const) {
    const container = lab.container();
    const prevResult = await lab.add({ ...request, container });
    container.run('ip', ...args.split(' '));
    await assert.rejects(lab.check({ ...request, container, prevResult }), { cniCode: 150, msg: said });
  }
  const container = lab.container();
  const prevResult = await lab.add({ ...request, container });
  const other = { config: { ...withIpam, owner: 1001, multiQueue: true }, container, prevResult };
  await assert.rejects(lab.check(other), {
    msg: 'the owner of eth0 should be 1001, but is 1000; multiQueue of eth0 should be true, but is false',
  });
  await lab.gc(withIpam, []);
  assert.equal(ipam.held.size, 0);
});

/** Opens the device as a virtual machine does. */
function open(container: Container, multiQueue: boolean) {
  const device = openCloneDevice(container.handle);
  const request = new Uint8Array(40);
  request.set(new TextEncoder().encode('eth0'));
  // IFF_TAP | IFF_NO_PI | IFF_VNET_HDR, IFF_MULTI_QUEUE
  request.set([0x02, 0x50 | (multiQueue ? 0x01 : 0)], 16);
  try {
    ioctl(device, 0x400454ca, request);
  } catch (error) {
    device.close();
    throw error;
  }
  return device;
}
