/** ADD, CHECK and DEL at every version, by every way to name a device. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CNI_VERSIONS } from '@heddle/cni';
import { PluginLab, StubIpam } from '../testing/index.ts';
import { hostDevice } from './index.ts';
import { addDevice, dualStack, FakeSysfs, MAC, onHost } from './testing.ts';

const config = { type: 'host-device', device: 'hd0' };
const withIpam = { ...config, ipam: { type: 'stub' } };
const BACK = { name: 'hd0', mac: MAC, mtu: 1400, alias: undefined, up: false };

for (const cniVersion of CNI_VERSIONS) {
  test(`${cniVersion}: ADD, CHECK, DEL twice`, async () => {
    const ipam = new StubIpam({ ips: [{ address: '10.1.2.2/24' }], routes: [{ dst: '192.0.2.0/24' }] });
    using lab = new PluginLab([hostDevice, ipam.plugin]);
    addDevice(lab);
    const container = lab.container();
    const request = { config: { ...withIpam, cniVersion }, container };
    const { stdout, exitCode } = await lab.run({ ...request, command: 'ADD' });
    assert.equal(exitCode, 0, stdout);
    const prevResult = JSON.parse(stdout);
    assert.equal(await onHost(lab), undefined);
    const { up, alias, mac, mtu } = await container.session.links.get('eth0');
    assert.deepEqual([up, alias, `${mac}`, mtu], [true, 'hd0', MAC, 1400]);
    if (cniVersion !== '0.1.0' && cniVersion !== '0.2.0') {
      assert.deepEqual(prevResult.interfaces, [{ name: 'eth0', mac: MAC, sandbox: container.path }]);
    }
    assert.match(container.run('ip', 'address', 'show', 'dev', 'eth0'), /inet 10\.1\.2\.2\/24/);
    if (CNI_VERSIONS.indexOf(cniVersion) >= 4) await lab.check({ ...request, prevResult });
    if (cniVersion === '1.1.0') await lab.status(request.config);
    for (let time = 0; time < 2; time++) {
      await lab.del({ ...request, prevResult });
      assert.deepEqual(await onHost(lab), BACK);
      assert.equal(await container.session.links.find('eth0'), undefined);
      assert.equal(ipam.held.size, 0);
    }
  });
}

test('without address management: the device is up, the result has it alone', async () => {
  using lab = new PluginLab([hostDevice]);
  addDevice(lab);
  const container = lab.container();
  const dns = { nameservers: ['192.0.2.53'] };
  const result = await lab.add({ config: { ...config, dns }, container });
  assert.deepEqual(result, {
    cniVersion: '1.1.0',
    interfaces: [{ name: 'eth0', mac: MAC, sandbox: container.path }],
  });
  assert.ok((await container.session.links.get('eth0')).up);
  await lab.check({ config, container, prevResult: result });
});

test("dual stack with name resolution of the configuration, not of IPAM's", async () => {
  const ipam = dualStack();
  ipam.answer = { ...ipam.answer, dns: { domain: 'ipam.example' } };
  using lab = new PluginLab([hostDevice, ipam.plugin]);
  addDevice(lab);
  lab.host.run('ip', 'address', 'add', '10.1.2.1/24', 'dev', 'hd0w');
  lab.host.run('ip', 'address', 'add', 'fd00::1/64', 'dev', 'hd0w', 'nodad');
  const container = lab.container();
  const dns = { nameservers: ['192.0.2.53'] };
  const prevResult = await lab.add({ config: { ...withIpam, dns }, container });
  assert.deepEqual(prevResult.dns, dns);
  const tentative = (await container.session.addresses.list()).filter((address) => address.tentative);
  assert.deepEqual(tentative, []);
  assert.ok(lab.host.pings('10.1.2.2') && lab.host.pings('fd00::2'));
  await lab.check({ config: withIpam, container, prevResult });
});

test('a name that the container has is no obstacle for the device, nor is its own name there', async () => {
  using lab = new PluginLab([hostDevice]);
  addDevice(lab);
  lab.host.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth1');
  const container = lab.container();
  container.run('ip', 'link', 'add', 'hd0', 'type', 'veth', 'peer', 'name', 'hd1');
  await lab.add({ config, container });
  assert.equal((await container.session.links.get('eth0')).alias, 'hd0');
  await lab.del({ config, container });
  assert.deepEqual(await onHost(lab), BACK);
  assert.ok(await lab.host.session.links.find('eth0'));
  assert.ok(await container.session.links.find('hd0'));
});

test('named by hardware address, by path, on the PCI bus, below virtio, as auxiliary device', async () => {
  using lab = new PluginLab([]);
  const sysfs = new FakeSysfs(lab);
  sysfs.add('pci', '0000:00:1f.6', { links: ['hd0', 'hd7'], driver: 'e1000e' });
  sysfs.add('pci', '0000:00:05.0', { links: ['hd0'], below: 'virtio3', driver: 'virtio-pci' });
  sysfs.add('auxiliary', 'mlx5_core.sf.4', { links: ['hd0'] });
  mkdirSync(join(sysfs.root, 'devices/pci0000:00/net/hd0'), { recursive: true });
  addDevice(lab);
  for (const selector of [
    { hwaddr: MAC },
    { kernelpath: '/sys/devices/pci0000:00' },
    { pciBusID: '0000:00:1f.6' },
    { pciBusID: '0000:00:05.0' },
    { runtimeConfig: { deviceID: '0000:00:1f.6' } },
    { runtimeConfig: { deviceID: 'mlx5_core.sf.4' }, pciBusID: '0000:00:99.9' },
    { device: 'hd0', hwaddr: '02:00:00:00:00:99' },
  ]) {
    using own = new PluginLab([sysfs.plugin]);
    addDevice(own);
    const container = own.container();
    const request = { config: { type: 'host-device', ...selector }, container };
    const prevResult = await own.add(request);
    assert.equal(prevResult.interfaces?.[0]?.mac, MAC, JSON.stringify(selector));
    await own.check({ ...request, prevResult });
    await own.del({ ...request, prevResult });
    assert.deepEqual(await onHost(own), BACK);
  }
});

test('DPDK: no link is touched, addresses are given', async () => {
  using lab = new PluginLab([]);
  const sysfs = new FakeSysfs(lab);
  for (const driver of ['vfio-pci', 'uio_pci_generic', 'igb_uio']) {
    sysfs.add('pci', `0000:00:1f.${driver.length}`, { driver });
    const ipam = dualStack();
    using own = new PluginLab([sysfs.plugin, ipam.plugin]);
    const container = own.container();
    const dpdk = { type: 'host-device', pciBusID: `0000:00:1f.${driver.length}`, ipam: { type: 'stub' } };
    const prevResult = await own.add({ config: dpdk, container });
    assert.deepEqual(prevResult.interfaces, [{ name: 'eth0', sandbox: container.path }]);
    assert.deepEqual(
      prevResult.ips?.map(({ address }) => address),
      ['10.1.2.2/24', 'fd00::2/64'],
    );
    assert.equal(await container.session.links.find('eth0'), undefined);
    await own.check({ config: dpdk, container, prevResult });
    await own.del({ config: dpdk, container, prevResult });
    assert.equal(ipam.held.size, 0);
  }
});

test('configurations that name no device, or none that there is', async () => {
  using lab = new PluginLab([]);
  const sysfs = new FakeSysfs(lab);
  sysfs.add('pci', '0000:00:02.0', {});
  using own = new PluginLab([sysfs.plugin]);
  const missing = 'specify either "device", "hwaddr", "kernelpath" or "pciBusID"';
  for (const [members, msg] of [
    [{}, missing],
    [{ device: '', pciBusID: '' }, missing],
    [{ device: 'hd9' }, /failed to find physical interface: the host has none hd9/],
    [{ hwaddr: '02:00:00:00:00:99' }, /failed to find physical interface/],
    [{ hwaddr: 'nonsense' }, /invalid hardware address: nonsense/],
    [{ kernelpath: 'sys/devices/x' }, /kernelpath "sys\/devices\/x" is no path below/],
    [{ kernelpath: '/sys/devices/../class/net' }, /is no path below \/sys\/devices\//],
    [{ pciBusID: '../../etc' }, /invalid device identifier: \.\.\/\.\.\/etc/],
    [{ pciBusID: '0000:00:99.9' }, /PCI device 0000:00:99\.9 does not exist, or has no driver/],
    [{ pciBusID: '0000:00:02.0' }, /PCI device 0000:00:02\.0 does not exist, or has no driver/],
    [{ runtimeConfig: { deviceID: 'x' } }, /device x is neither a PCI device nor an auxiliary one/],
  ] as const) {
    const wrong = { type: 'host-device', ...members };
    await assert.rejects(own.add({ config: wrong, container: own.container() }), { msg });
  }
  await assert.rejects(own.status({ type: 'host-device' }), { msg: missing });
});
