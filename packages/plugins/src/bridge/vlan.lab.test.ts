/** VLANs of the bridge's ports, on a kernel whose bridges filter them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '@heddle/cni';
import { PluginLab, ReferencePlugins, type TestNetns } from '../testing/index.ts';
import { bridge } from './index.ts';
import { addTo, layer2, NATIVE, vlansOf } from './testing.ts';

function filters(lab: PluginLab): boolean {
  const [link] = lab.host.json('ip', '-j', '-d', 'link', 'show', 'br0') as {
    linkinfo: { info_data: { vlan_filtering: number } };
  }[];
  return link?.linkinfo.info_data.vlan_filtering === 1;
}

test('a bridge that ADD makes filters VLANs exactly when the configuration has some', async () => {
  for (const [config, expected] of [
    [{}, false],
    [{ vlan: 0 }, false],
    [{ vlan: 100 }, true],
    [{ vlanTrunk: [{ id: 5 }] }, true],
    [{ vlanTrunk: [] }, true],
  ] as const) {
    using lab = new PluginLab([bridge]);
    await addTo(lab, config);
    assert.equal(filters(lab), expected, JSON.stringify(config));
  }
});

for (const [what, config, expected] of [
  ['no VLAN', { vlanTrunk: [] }, [`1 ${NATIVE}`]],
  ['a VLAN takes the place of the default one', { vlan: 100 }, [`100 ${NATIVE}`]],
  [
    'a VLAN beside the default one',
    { vlan: 100, preserveDefaultVlan: true },
    ['1 Egress Untagged', `100 ${NATIVE}`],
  ],
  ['VLAN 1 itself', { vlan: 1 }, [`1 ${NATIVE}`]],
  ['a trunk keeps VLAN 1 for untagged frames', { vlanTrunk: [{ id: 10 }] }, [`1 ${NATIVE}`, '10']],
  [
    'a trunk of overlapping ranges and ids',
    { vlanTrunk: [{ minID: 100, maxID: 103 }, { id: 10 }, { minID: 102, maxID: 105 }, { id: 101 }] },
    [`1 ${NATIVE}`, '10', '100', '101', '102', '103', '104', '105'],
  ],
  ['a trunk with a VLAN of its own', { vlan: 9, vlanTrunk: [{ id: 9 }, { id: 10 }] }, [`9 ${NATIVE}`, '10']],
  ['the last VLAN', { vlan: 4094 }, [`4094 ${NATIVE}`]],
] as const) {
  test(`the port's VLANs: ${what}; CHECK agrees, DEL takes all down`, async () => {
    using lab = new PluginLab([bridge]);
    const attachment = await addTo(lab, config);
    assert.deepEqual(vlansOf(lab.host, attachment.port), expected);
    await lab.check(attachment);
    await lab.del(attachment);
    assert.deepEqual(await lab.host.session.links.list({ kind: 'veth' }), []);
  });
}

test('a trunk of all VLANs', async () => {
  using lab = new PluginLab([bridge]);
  const { port } = await addTo(lab, { vlanTrunk: [{ minID: 1, maxID: 4094 }] });
  assert.equal(vlansOf(lab.host, port).length, 4094);
});

/** Counts the ARP requests that a container hears. */
function listen(container: TestNetns): () => number {
  container.run('nft', 'add table arp heard; add chain arp heard in { type filter hook input priority 0; }');
  container.run('nft', 'add rule arp heard in arp operation request counter');
  return () => Number(/packets (\d+)/.exec(container.run('nft', 'list', 'table', 'arp', 'heard'))?.[1]);
}

test('no frame crosses from one VLAN to another: containernetworking/plugins#1181', async () => {
  using lab = new PluginLab([bridge]);
  const [a, same, other] = [
    await addTo(lab, { vlan: 100 }),
    await addTo(lab, { vlan: 100 }),
    await addTo(lab, { vlan: 200 }),
  ];
  for (const [index, { container }] of [a, same, other].entries()) {
    container.run('ip', 'address', 'add', `10.1.2.${index + 1}/24`, 'dev', 'eth0');
  }
  const [sameHears, otherHears] = [listen(same.container), listen(other.container)];
  assert.equal(a.container.pings('10.1.2.3'), false);
  assert.equal(a.container.pings('10.1.2.2'), true);
  assert.equal(otherHears(), 0);
  assert.ok(sameHears() > 0);
});

test('tagged frames of a trunk reach the VLAN that they name, and no other', async () => {
  using lab = new PluginLab([bridge]);
  const trunk = await addTo(lab, { vlanTrunk: [{ minID: 100, maxID: 101 }] });
  for (const id of [100, 101, 102]) {
    trunk.container.run('ip', 'link', 'add', 'link', 'eth0', 'name', `v${id}`, 'type', 'vlan', 'id', `${id}`);
    trunk.container.run('ip', 'address', 'add', `10.1.${id}.1/24`, 'dev', `v${id}`);
    trunk.container.run('ip', 'link', 'set', `v${id}`, 'up');
    const { container } = await addTo(lab, { vlan: id });
    container.run('ip', 'address', 'add', `10.1.${id}.2/24`, 'dev', 'eth0');
    assert.equal(trunk.container.pings(`10.1.${id}.2`), id !== 102, `VLAN ${id}`);
  }
});

for (const [what, config, change, said] of [
  [
    'its VLAN is gone',
    { vlan: 100 },
    ['delete', 'vid', '100'],
    /port veth\w+ should be untagged in VLAN 100/,
  ],
  ['it is tagged', { vlan: 100 }, ['add', 'vid', '100', 'pvid'], /should be untagged in VLAN 100/],
  ['it has another VLAN for untagged frames', { vlan: 100 }, ['add', 'vid', '7', 'pvid'], /in VLAN 100/],
  ['the trunk lost one', { vlanTrunk: [{ id: 10 }] }, ['delete', 'vid', '10'], /should be in VLAN 10$/],
  ['it is in a VLAN too many', { vlan: 100 }, ['add', 'vid', '1', 'untagged'], /should not be in VLAN 1$/],
  [
    'the trunk has one too many',
    { vlanTrunk: [{ id: 10 }] },
    ['add', 'vid', '11'],
    /should not be in VLAN 11$/,
  ],
] as const) {
  test(`CHECK finds drift of the port: ${what}`, async () => {
    using lab = new PluginLab([bridge]);
    const attachment = await addTo(lab, config);
    await lab.check(attachment);
    lab.host.run('bridge', 'vlan', change[0], 'dev', String(attachment.port), ...change.slice(1));
    await assert.rejects(lab.check(attachment), { msg: said, cniCode: 150 });
  });
}

test('CHECK takes the default VLAN for no drift when it is to be preserved', async () => {
  using lab = new PluginLab([bridge]);
  const attachment = await addTo(lab, { vlan: 100, preserveDefaultVlan: true });
  await lab.check(attachment);
});

test('a bridge that exists and does not filter stays so, and ADD warns', async () => {
  using lab = new PluginLab([bridge]);
  lab.host.run('ip', 'link', 'add', 'br0', 'type', 'bridge');
  const request = { config: { ...layer2, vlan: 100 }, container: lab.container() };
  const { exitCode, stderr } = await lab.run({ ...request, command: 'ADD' });
  assert.equal(exitCode, 0);
  assert.equal(filters(lab), false);
  assert.match(stderr, /br0 does not filter VLANs/);
});

const reference = ReferencePlugins.findCurrent();
const skip = reference === undefined && ReferencePlugins.ABSENT_CURRENT;

for (const config of [
  { vlan: 100 },
  { vlan: 100, preserveDefaultVlan: true },
  { vlanTrunk: [] },
  { vlanTrunk: [{ minID: 100, maxID: 103 }, { id: 10 }, { minID: 102, maxID: 105 }] },
  { vlan: 9, vlanTrunk: [{ id: 10 }] },
]) {
  test(`the reference puts the port into the same VLANs: ${JSON.stringify(config)}`, { skip }, async () => {
    using lab = new PluginLab([bridge]);
    const ours = await addTo(lab, config);
    const request = { config: { ...layer2, ...config }, container: lab.container() };
    const theirs: Result = JSON.parse(reference?.run(lab.host, { ...request, command: 'ADD' }) ?? '');
    const port = theirs.interfaces?.[1]?.name;
    assert.deepEqual(vlansOf(lab.host, ours.port), vlansOf(lab.host, port));
    await lab.check({ ...request, prevResult: theirs });
    await lab.del({ ...request, prevResult: theirs });
    reference?.run(lab.host, { ...ours, command: 'DEL' });
    assert.deepEqual(await lab.host.session.links.list({ kind: 'veth' }), []);
  });
}

test("a VLAN of its own that the trunk has too stays the port's own; the reference loses it", {
  skip,
}, async () => {
  using lab = new PluginLab([bridge]);
  const config = { ...layer2, vlan: 9, vlanTrunk: [{ id: 9 }, { id: 10 }] };
  const request = { config, container: lab.container() };
  const theirs: Result = JSON.parse(reference?.run(lab.host, { ...request, command: 'ADD' }) ?? '');
  assert.deepEqual(vlansOf(lab.host, theirs.interfaces?.[1]?.name), ['9', '10']);
  await assert.rejects(lab.check({ ...request, prevResult: theirs }), {
    msg: /should be untagged in VLAN 9/,
  });
  assert.deepEqual(vlansOf(lab.host, (await addTo(lab, config)).port), [`9 ${NATIVE}`, '10']);
});
