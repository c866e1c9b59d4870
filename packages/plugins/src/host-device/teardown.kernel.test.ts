/** The device comes back, whatever happened to it; a failed ADD leaves it as it was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDespite, type Container, everyRequest, PluginLab, StubIpam } from '../testing/index.ts';
import { hostDevice } from './index.ts';
import { addDevice, MAC, onHost } from './testing.ts';

const config = { type: 'host-device', device: 'hd0' };
const withIpam = { ...config, ipam: { type: 'stub' } };
const BACK = { name: 'hd0', mac: MAC, mtu: 1400, alias: undefined, up: false };
const ips = [{ address: '10.1.2.2/24' }];

function rename(container: Container, name: string): void {
  container.run('ip', 'link', 'set', 'eth0', 'down');
  container.run('ip', 'link', 'set', 'eth0', 'name', name);
}

for (const [what, make] of [
  ['renamed', (container) => rename(container, 'lan0')],
  [
    'renamed, its name now another name of it',
    (container) => {
      rename(container, 'lan0');
      container.run('ip', 'link', 'property', 'add', 'dev', 'lan0', 'altname', 'eth0');
    },
  ],
  [
    'renamed, another interface in its place',
    (container) => {
      rename(container, 'lan0');
      container.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth9');
    },
  ],
  ['without alias', (container) => container.run('ip', 'link', 'set', 'eth0', 'alias', '')],
  [
    'renamed, without alias',
    (container) => {
      rename(container, 'lan0');
      container.run('ip', 'link', 'set', 'lan0', 'alias', '');
    },
  ],
] as readonly (readonly [string, (container: Container) => unknown])[]) {
  test(`${what} in the container, the device comes back (kernelkit/infix#708)`, async () => {
    using lab = new PluginLab([hostDevice]);
    addDevice(lab);
    const container = lab.container();
    const prevResult = await lab.add({ config, container });
    make(container);
    for (let time = 0; time < 2; time++) {
      await lab.del({ config, container, prevResult });
      assert.deepEqual(await onHost(lab), BACK);
    }
  });
}

test('named by its hardware address, renamed in the container', async () => {
  using lab = new PluginLab([hostDevice]);
  addDevice(lab);
  const container = lab.container();
  const byMac = { type: 'host-device', hwaddr: MAC };
  await lab.add({ config: byMac, container });
  rename(container, 'lan0');
  await lab.del({ config: byMac, container });
  assert.deepEqual(await onHost(lab), BACK);
});

test("a stranger's interface stays in the container", async () => {
  using lab = new PluginLab([hostDevice]);
  const container = lab.container();
  container.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth9');
  await lab.del({ config, container });
  assert.ok(await container.session.links.find('eth0'));
});

test('DEL fails while the host has another link of that name; the device stays as it is', async () => {
  const ipam = new StubIpam({ ips });
  using lab = new PluginLab([hostDevice, ipam.plugin]);
  addDevice(lab);
  const container = lab.container();
  const prevResult = await lab.add({ config: withIpam, container });
  lab.host.run('ip', 'link', 'add', 'hd0', 'type', 'veth', 'peer', 'name', 'other0');
  await assert.rejects(lab.del({ config: withIpam, container, prevResult }), {
    cniCode: 141,
    msg: /cannot return eth0 to the host as hd0/,
  });
  assert.equal(ipam.held.size, 0);
  const { up, alias } = await container.session.links.get('eth0');
  assert.deepEqual([up, alias], [true, 'hd0']);
  assert.match(container.run('ip', 'address', 'show', 'dev', 'eth0'), /10\.1\.2\.2/);
  lab.host.run('ip', 'link', 'delete', 'hd0');
  await lab.del({ config: withIpam, container, prevResult });
  assert.deepEqual(await onHost(lab), BACK);
});

test('an address is released without a namespace, and when the device cannot be found', async () => {
  const ipam = new StubIpam({ ips });
  using lab = new PluginLab([hostDevice, ipam.plugin]);
  for (const netns of ['', '/run/netns/gone', '/etc/hostname']) {
    addDevice(lab);
    const container = lab.container('pod');
    await lab.add({ config: withIpam, container });
    await lab.del({ config: withIpam, container: { id: 'pod' }, netns });
    assert.equal(ipam.held.size, 0);
    container.run('ip', 'link', 'delete', 'eth0');
    container[Symbol.dispose]();
  }
  const vanished = { type: 'host-device', pciBusID: '0000:00:99.9', ipam: { type: 'stub' } };
  await lab.del({ config: vanished, container: lab.container('pod') });
  assert.equal(ipam.commands.at(-1), 'DEL');
});

// Only a real device is given back when its namespace goes, and to the machine itself: so this is played.
test('a device that the kernel gave back under another name gets its own again, by DEL, GC or the next ADD', async () => {
  for (const verb of ['DEL', 'GC', 'ADD']) {
    using lab = new PluginLab([hostDevice]);
    addDevice(lab);
    for (const change of [['down'], ['name', 'dev7'], ['alias', 'hd0']]) {
      lab.host.run('ip', 'link', 'set', change[1] === 'hd0' ? 'dev7' : 'hd0', ...change);
    }
    const container = lab.container();
    if (verb === 'DEL') await lab.del({ config, container: { id: 'pod' }, netns: '/run/netns/gone' });
    if (verb === 'GC') await lab.gc(config, []);
    if (verb === 'ADD') {
      await lab.add({ config, container });
      assert.equal((await container.session.links.get('eth0')).alias, 'hd0');
      await lab.del({ config, container });
    }
    assert.deepEqual(await onHost(lab), BACK, verb);
  }
});

test('an ADD that fails at any request to the kernel gives the device back as it was', async () => {
  const ipam = new StubIpam({ ips });
  using lab = new PluginLab([hostDevice, ipam.plugin]);
  addDevice(lab);
  lab.host.run('ip', 'link', 'set', 'hd0', 'alias', 'uplink of rack 7');
  const before = await onHost(lab);
  for (const sabotage of everyRequest()) {
    using container = lab.container('pod');
    const { what, gotBy } = await addDespite(lab, { config: withIpam, container }, sabotage);
    if (gotBy) {
      lab.host.run('ip', 'link', 'set', 'hd0', 'alias', 'uplink of rack 7');
      lab.host.run('ip', 'link', 'set', 'hd0', 'up');
    }
    assert.deepEqual(await onHost(lab), before, what);
    assert.equal(ipam.held.size, 0, what);
  }
});

test('DEL brings back what an ADD or DEL has left that was killed at any request to the kernel', async () => {
  const ipam = new StubIpam({ ips });
  for (const killed of ['ADD', 'DEL'] as const) {
    for (const namesake of [false, true]) {
      using lab = new PluginLab([hostDevice, ipam.plugin]);
      addDevice(lab);
      for (const sabotage of everyRequest('dies')) {
        using container = lab.container('pod');
        if (namesake) container.run('ip', 'link', 'add', 'hd0', 'type', 'veth', 'peer', 'name', 'hd9');
        if (killed === 'DEL') await lab.add({ config: withIpam, container });
        const call = { command: killed, config: withIpam, container, wrap: sabotage.wrap };
        await sabotage.outcome(lab.run(call));
        await lab.del({ config: withIpam, container });
        const device = await lab.host.session.links.find('hd0');
        assert.deepEqual([device?.name, device?.alias], ['hd0', undefined], `${killed}: ${sabotage}`);
        assert.equal(ipam.held.size, 0, `${killed}: ${sabotage}`);
      }
    }
  }
});

test('a DEL that fails at any request to the kernel leaves the device to the next one', async () => {
  using lab = new PluginLab([hostDevice]);
  addDevice(lab);
  for (const sabotage of everyRequest()) {
    using container = lab.container('pod');
    await lab.add({ config, container });
    const { exitCode } = await lab.run({ command: 'DEL', config, container, wrap: sabotage.wrap });
    if (sabotage.failed !== undefined && exitCode !== 0) {
      const { up, alias } = await container.session.links.get('eth0');
      assert.deepEqual([up, alias], [true, 'hd0'], `${sabotage}`);
    }
    await lab.del({ config, container });
    assert.deepEqual(await onHost(lab), BACK, `${sabotage}`);
  }
});

test('an interface of that name in the container: the device stays, up and with its addresses', async () => {
  using lab = new PluginLab([hostDevice]);
  addDevice(lab);
  lab.host.run('ip', 'address', 'add', '192.0.2.1/24', 'dev', 'hd0');
  const before = await onHost(lab);
  const container = lab.container();
  container.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth9');
  await assert.rejects(lab.add({ config, container }), {
    cniCode: 141,
    msg: /cannot move hd0 into .*: an interface eth0 already exists there/,
  });
  assert.deepEqual(await onHost(lab), before);
  assert.match(lab.host.run('ip', 'address', 'show', 'dev', 'hd0'), /192\.0\.2\.1/);
});

test('CHECK finds drift', async () => {
  const ipam = new StubIpam({ ips, routes: [{ dst: '192.0.2.0/24' }] });
  using lab = new PluginLab([hostDevice, ipam.plugin]);
  for (const [args, said] of [
    ['link set eth0 down', /link eth0 should be up/],
    ['link set eth0 address 02:00:00:00:00:09', /eth0 should have the hardware address/],
    ['link set eth0 alias -', /link eth0 should have its name on the host as alias/],
    ['address delete 10.1.2.2/24 dev eth0', /address 10\.1\.2\.2\/24 is missing/],
    ['route delete 192.0.2.0/24', /the route to 192\.0\.2\.0\/24 is missing/],
    ['link delete eth0', /link eth0 is missing/],
  ] as const) {
    addDevice(lab);
    const container = lab.container();
    const prevResult = await lab.add({ config: withIpam, container });
    container.run('ip', ...args.split(' ').map((word) => (word === '-' ? '' : word)));
    const request = { config: withIpam, container, prevResult };
    await assert.rejects(lab.check(request), { cniCode: 150, msg: said });
    await lab.del(request);
    await lab.host.session.links.delete('hd0').catch(() => {});
  }
  await assert.rejects(lab.check({ config, container: lab.container() }), {
    msg: 'Required prevResult missing',
  });
});
