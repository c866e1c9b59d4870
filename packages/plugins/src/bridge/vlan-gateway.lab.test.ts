/** The gateways of VLANs: links of the host's own, on a kernel whose bridges filter VLANs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CNI_VERSIONS, type Result } from '@heddle/cni';
import { hostLocal } from '../host-local/index.ts';
import { everyRequest, PluginLab, ReferencePlugins, type TestNetns } from '../testing/index.ts';
import { bridge } from './index.ts';
import { addTo, ipamOf, layer3, NATIVE, vlansOf } from './testing.ts';

for (const cniVersion of CNI_VERSIONS) {
  const families = cniVersion < '0.3.0' ? ([4] as const) : ([4, 6] as const);
  test(`${cniVersion}: the gateway of a VLAN is a link of its own`, async () => {
    using lab = new PluginLab([bridge, ipamOf(...families).plugin]);
    const request = { config: { ...layer3, vlan: 100, cniVersion }, container: lab.container() };
    const { stdout, exitCode } = await lab.run({ ...request, command: 'ADD' });
    assert.equal(exitCode, 0, stdout);
    const prevResult: Result = JSON.parse(stdout);
    const gateway = await lab.host.session.links.get('br0.100');
    const others = await lab.host.session.links.list({ kind: 'veth' });
    const port = others.find(({ index }) => index === gateway.parent);
    assert.deepEqual(vlansOf(lab.host, port?.name), [`100 ${NATIVE}`]);
    if (cniVersion >= '0.3.0') {
      assert.deepEqual(prevResult.interfaces?.[3], { name: 'br0.100', mac: `${gateway.mac}` });
      assert.equal(prevResult.interfaces?.length, 4);
    }
    if (cniVersion >= '0.4.0') await lab.check({ ...request, prevResult });
    assert.ok(request.container.pings('10.1.2.1'));
    if (families.length === 2) assert.ok(request.container.pings('fd00::1'));
    assert.deepEqual(await lab.host.session.addresses.list({ link: 'br0', family: 4 }), []);

    await lab.del({ ...request, prevResult });
    // Another attachment may have it for its gateway.
    const left = await lab.host.session.links.list({ kind: 'veth' });
    assert.deepEqual(left.map(({ name }) => name).toSorted(), ['br0.100', port?.name].toSorted());
  });
}

test('attachments of one VLAN share its gateway; another VLAN has another', async () => {
  using lab = new PluginLab([bridge, ipamOf(4).plugin]);
  const first = await addTo(lab, { ...layer3, vlan: 100 });
  const second = await addTo(lab, { ...layer3, vlan: 100 });
  assert.deepEqual(second.prevResult.interfaces?.[3], first.prevResult.interfaces?.[3]);
  const third = await addTo(lab, { ...layer3, vlan: 200 });
  assert.equal(third.prevResult.interfaces?.[3]?.name, 'br0.200');
  assert.equal((await lab.host.session.links.list({ kind: 'veth' })).length, 3 + 2 * 2);
  assert.ok(second.container.pings('10.1.2.1'));
  assert.deepEqual(await gatewayOf(third.container), (await lab.host.session.links.get('br0.200')).mac);
});

async function gatewayOf(container: TestNetns) {
  container.pings('10.1.2.1');
  const found = await container.session.neighbours.list({ link: 'eth0', family: 4 });
  return found[0]?.mac;
}

test('the gateway stays in the default VLAN as well when that is asked for', async () => {
  using lab = new PluginLab([bridge, ipamOf(4).plugin]);
  await addTo(lab, { ...layer3, vlan: 100, preserveDefaultVlan: true });
  const gateway = await lab.host.session.links.get('br0.100');
  const port = await lab.host.session.links.get(gateway.parent ?? 0);
  assert.deepEqual(vlansOf(lab.host, port.name), ['1 Egress Untagged', `100 ${NATIVE}`]);
});

for (const [what, commands, said] of [
  ['it is gone', ['ip link delete br0.100'], /the gateway's link br0\.100 is missing/],
  ['it is down', ['ip link set br0.100 down'], /link br0\.100 should be up/],
  [
    'its port is in another VLAN',
    ['bridge vlan delete vid 100 dev PORT', 'bridge vlan add vid 7 pvid untagged dev PORT'],
    /port veth\w+ should be untagged in VLAN 100; port veth\w+ should not be in VLAN 7$/,
  ],
] as const) {
  test(`CHECK finds drift of the VLAN's gateway: ${what}`, async () => {
    using lab = new PluginLab([bridge, ipamOf(4).plugin]);
    const attachment = await addTo(lab, { ...layer3, vlan: 100 });
    const { parent = 0 } = await lab.host.session.links.get('br0.100');
    const { name } = await lab.host.session.links.get(parent);
    await lab.check(attachment);
    for (const command of commands) {
      const [program = '', ...args] = command.replace('PORT', name).split(' ');
      lab.host.run(program, ...args);
    }
    await assert.rejects(lab.check(attachment), { msg: said, cniCode: 150 });
  });
}

test('an ADD that fails anywhere leaves nothing that keeps the next from working', async () => {
  for (const sabotage of everyRequest()) {
    using lab = new PluginLab([bridge, ipamOf(4).plugin]);
    const request = { config: { ...layer3, vlan: 100 }, container: lab.container() };
    const { exitCode } = await lab.run({ ...request, command: 'ADD', wrap: sabotage.wrap });
    assert.ok(exitCode === 0 || sabotage.failed !== undefined, `${sabotage}`);
    const ports = await lab.host.session.links.list({ kind: 'veth' });
    const own = ports.filter(({ alias }) => alias?.startsWith('heddle:'));
    if (exitCode !== 0) assert.deepEqual(own, [], `${sabotage}`);
    else await lab.del(request);
    const prevResult = await lab.add(request);
    await lab.check({ ...request, prevResult });
    assert.ok(request.container.pings('10.1.2.1'), `${sabotage}`);
  }
});

const reference = ReferencePlugins.findCurrent();
const skip = reference === undefined && ReferencePlugins.ABSENT_CURRENT;

test("the reference's gateway of a VLAN is ours, and ours the reference's", { skip }, async () => {
  using lab = new PluginLab([bridge, hostLocal]);
  const ipam = { type: 'host-local', dataDir: lab.directory, ranges: [[{ subnet: '10.1.2.0/24' }]] };
  const config = { ...layer3, vlan: 100, ipam };
  const [first, second, third] = [lab.container(), lab.container(), lab.container()];
  const theirs: Result = JSON.parse(
    reference?.run(lab.host, { config, container: first, command: 'ADD' }) ?? '',
  );
  const ours = await lab.add({ config, container: second });
  const again: Result = JSON.parse(
    reference?.run(lab.host, { config, container: third, command: 'ADD' }) ?? '',
  );
  assert.deepEqual(ours.interfaces?.[3], theirs.interfaces?.[3]);
  assert.deepEqual(again.interfaces?.[3], theirs.interfaces?.[3]);
  for (const container of [first, second, third]) assert.ok(container.pings('10.1.2.1'));
  await lab.check({ config, container: first, prevResult: theirs });
});
