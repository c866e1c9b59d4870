/** The dummy plugin, on a kernel that has such links. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CNI_VERSIONS } from '@heddle/cni';
import { type Container, everyRequest, PluginLab, ReferencePlugins, StubIpam } from '../testing/index.ts';
import { dummy } from './index.ts';

const config = { type: 'dummy', ipam: { type: 'stub' } };
const V4 = { address: '10.1.2.2/24' };
const V6 = { address: 'fd00::2/64' };
const ROUTES = [{ dst: '192.0.2.0/24' }, { dst: '2001:db8::/32' }];

for (const cniVersion of CNI_VERSIONS) {
  test(`${cniVersion}: ADD, CHECK, DEL twice`, async () => {
    using lab = new PluginLab([dummy, new StubIpam({ ips: [V4, V6], routes: ROUTES }).plugin]);
    // The host may have a link of that name.
    lab.host.run('ip', 'link', 'add', 'eth0', 'type', 'dummy');
    const container = lab.container();
    const request = { config: { ...config, cniVersion }, container };
    const { stdout, exitCode } = await lab.run({ ...request, command: 'ADD' });
    assert.equal(exitCode, 0, stdout);
    const prevResult = JSON.parse(stdout);
    const { kind, up, mac } = await container.session.links.get('eth0');
    assert.deepEqual([kind, up], ['dummy', true]);
    if (cniVersion !== '0.1.0' && cniVersion !== '0.2.0') {
      assert.deepEqual(prevResult.interfaces, [{ name: 'eth0', mac: `${mac}`, sandbox: container.path }]);
    }
    assert.deepEqual(addressesOf(container), ['10.1.2.2/24', 'fd00::2/64']);
    if (CNI_VERSIONS.indexOf(cniVersion) >= 4) await lab.check({ ...request, prevResult });
    if (cniVersion === '1.1.0') await lab.status(request.config);
    for (let time = 0; time < 2; time++) {
      await lab.del({ ...request, prevResult });
      assert.equal(await container.session.links.find('eth0'), undefined);
    }
    assert.ok(await lab.host.session.links.find('eth0'));
  });
}

test('without address management', async () => {
  using lab = new PluginLab([dummy]);
  const container = lab.container();
  const msg = 'dummy interface requires an IPAM configuration';
  for (const wrong of [{ type: 'dummy' }, { type: 'dummy', ipam: {} }]) {
    await assert.rejects(lab.add({ config: wrong, container }), { msg });
    await assert.rejects(lab.check({ config: wrong, container }), { msg });
    await lab.del({ config: wrong, container });
  }
  assert.equal(await container.session.links.find('eth0'), undefined);
});

test('DEL without a namespace, with a plain file there, and when IPAM fails', async () => {
  const ipam = new StubIpam({ ips: [V4] });
  using lab = new PluginLab([dummy, ipam.plugin]);
  for (const netns of ['', '/run/netns/gone', '/etc/hostname']) {
    using container = lab.container('pod');
    await lab.add({ config, container });
    await lab.del({ config, container: { id: 'pod' }, netns });
    assert.equal(ipam.held.size, 0);
  }
  const container = lab.container('pod');
  await lab.add({ config, container });
  ipam.failing.add('DEL');
  await assert.rejects(lab.del({ config, container }), { msg: /stub: DEL fails as told/ });
  assert.equal(await container.session.links.find('eth0'), undefined);
});

test('an ADD that fails at any request to the kernel, or in IPAM, leaves nothing', async () => {
  const ipam = new StubIpam({ ips: [V4, V6], routes: ROUTES });
  using lab = new PluginLab([dummy, ipam.plugin]);
  for (const sabotage of everyRequest()) {
    using container = lab.container('pod');
    const { exitCode } = await lab.run({ command: 'ADD', config, container, wrap: sabotage.wrap });
    assert.ok(exitCode === 0 || sabotage.failed !== undefined, `${sabotage}`);
    if (exitCode === 0) await lab.del({ config, container });
    assert.equal(await container.session.links.find('eth0'), undefined, `${sabotage}`);
    assert.equal(ipam.held.size, 0, `${sabotage}`);
  }
  ipam.failing.add('ADD');
  const container = lab.container();
  await assert.rejects(lab.add({ config, container }), { msg: /stub: ADD fails as told/ });
  assert.equal(await container.session.links.find('eth0'), undefined);
  assert.equal(ipam.held.size, 0);
});

test('an interface of that name is refused and stays', async () => {
  using lab = new PluginLab([dummy, new StubIpam({ ips: [V4] }).plugin]);
  const container = lab.container();
  container.run('ip', 'link', 'add', 'eth0', 'type', 'dummy');
  await assert.rejects(lab.add({ config, container }), { msg: /add link eth0/ });
  assert.ok(await container.session.links.find('eth0'));
});

test('CHECK finds drift, GC asks IPAM', async () => {
  const ipam = new StubIpam({ ips: [V4, V6], routes: ROUTES });
  using lab = new PluginLab([dummy, ipam.plugin]);
  for (const [args, said] of [
    ['link set eth0 down', /link eth0 should be up/],
    ['link set eth0 address 02:00:00:00:00:09', /eth0 should have the hardware address/],
    ['address delete 10.1.2.2/24 dev eth0', /address 10\.1\.2\.2\/24 is missing/],
    ['route delete 192.0.2.0/24', /the route to 192\.0\.2\.0\/24 is missing/],
    ['link delete eth0', /link eth0 is missing/],
  ] as const) {
    const container = lab.container();
    const prevResult = await lab.add({ config, container });
    container.run('ip', ...args.split(' '));
    await assert.rejects(lab.check({ config, container, prevResult }), { cniCode: 150, msg: said });
  }
  assert.equal(ipam.held.size, 5);
  await lab.gc(config, []);
  assert.equal(ipam.held.size, 0);
});

const reference = ReferencePlugins.findCurrent();
const skip = reference === undefined && ReferencePlugins.ABSENT_CURRENT;

test("the reference's plugin makes the same, and takes ours", { skip }, async () => {
  const ipam = { type: 'static', addresses: [V4, V6], routes: ROUTES };
  const stub = new StubIpam({ ips: [V4, V6], routes: ROUTES });
  using lab = new PluginLab([dummy, stub.plugin]);
  const [theirs, ours] = [lab.container('theirs'), lab.container('ours')];
  const request = { config: { ...config, ipam }, container: theirs };
  const theirResult = JSON.parse(reference?.run(lab.host, { ...request, command: 'ADD' }) ?? '');
  const ourResult = await lab.add({ config, container: ours });
  assert.deepEqual(shapeOf(ourResult, ours), shapeOf(theirResult, theirs));
  assert.deepEqual(addressesOf(ours), addressesOf(theirs));
  assert.equal(ours.run('ip', 'route'), theirs.run('ip', 'route'));

  await lab.check({ config, container: ours, prevResult: ourResult });
  const foreign = { ...request, container: ours, prevResult: ourResult };
  reference?.run(lab.host, { ...foreign, command: 'CHECK' });
  reference?.run(lab.host, { ...foreign, command: 'DEL' });
  await lab.del({ config, container: theirs, prevResult: theirResult });
  for (const container of [ours, theirs]) assert.equal(await container.session.links.find('eth0'), undefined);
});

function shapeOf(result: object, { path }: Container): unknown {
  const text = JSON.stringify(result).replaceAll(path, 'SANDBOX');
  return JSON.parse(text.replace(/(?:[0-9a-f]{2}:){5}[0-9a-f]{2}/g, 'MAC'));
}

function addressesOf(container: Container): readonly string[] {
  const links = container.json('ip', '-j', 'address', 'show', 'dev', 'eth0') as {
    addr_info: { scope: string; local: string; prefixlen: number }[];
  }[];
  return links
    .flatMap(({ addr_info }) => addr_info)
    .filter(({ scope }) => scope === 'global')
    .map(({ local, prefixlen }) => `${local}/${prefixlen}`);
}
