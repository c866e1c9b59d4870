import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Mac } from '@heddle/netaddr';
import { NetlinkError } from '../core/netlink-error.ts';
import { TestNetns } from '../testing/test-netns.ts';

const MAC = Mac.parse('0a:58:0a:01:00:02');

async function labWithPort(): Promise<TestNetns> {
  const lab = new TestNetns();
  await lab.session.links.add({ name: 'hdbr', kind: 'bridge', up: true });
  await lab.session.links.add({ name: 'hd0', kind: 'veth', up: true, master: 'hdbr', peer: { name: 'hd1' } });
  await lab.session.links.set('hd1', { up: true });
  return lab;
}

test('the flags of a port are set and read', async () => {
  using lab = await labWithPort();
  const { bridge } = lab.session;
  const fresh = await bridge.port('hd0');
  assert.deepEqual(
    [fresh.hairpin, fresh.isolated, fresh.learning, fresh.state],
    [false, false, true, 'forwarding'],
  );
  await bridge.setPort('hd0', {
    hairpin: true,
    isolated: true,
    learning: false,
    flood: false,
    neighSuppress: true,
  });
  const port = await bridge.port('hd0');
  assert.deepEqual(
    [port.hairpin, port.isolated, port.learning, port.flood, port.neighSuppress],
    [true, true, false, false, true],
  );
  const [seen] = lab.json('bridge', '-d', '-j', 'link', 'show', 'dev', 'hd0');
  assert.deepEqual(
    [
      seen?.['hairpin'],
      seen?.['isolated'],
      seen?.['learning'],
      seen?.['flood'],
      seen?.['neigh_suppress'],
      seen?.['state'],
    ],
    [true, true, false, false, true, 'forwarding'],
  );
  await bridge.setPort('hd0', { state: 'disabled' });
  assert.equal((await bridge.port('hd0')).state, 'disabled');
});

test('a link in no bridge has no port', async () => {
  using lab = await labWithPort();
  await assert.rejects(lab.session.bridge.port('hd1'), (error) => {
    assert.ok(NetlinkError.is(error, 'ENOENT'));
    assert.equal(error.message, 'get bridge port hd1, which is in no bridge: ENOENT');
    return true;
  });
  await assert.rejects(lab.session.bridge.setPort('hd1', { hairpin: true }), NetlinkError);
});

test('VLANs of ports', async (t) => {
  using lab = await labWithPort();
  const { bridge, links } = lab.session;
  try {
    await links.set('hdbr', { data: { kind: 'bridge', vlanFiltering: true } });
  } catch (error) {
    if (!NetlinkError.is(error, 'EOPNOTSUPP')) throw error;
    t.skip('this kernel has no VLAN filtering');
    return;
  }
  await bridge.addVlan('hd0', { id: 100, pvid: true, untagged: true });
  await bridge.addVlan('hd0', { id: 200, lastId: 203 });
  await bridge.addVlan('hdbr', { id: 100, self: true });
  const vlans = await bridge.vlans('hd0');
  assert.deepEqual(
    vlans.filter(({ id }) => id !== 1),
    [
      { id: 100, pvid: true, untagged: true },
      ...[200, 201, 202, 203].map((id) => ({ id, pvid: false, untagged: false })),
    ],
  );
  assert.ok((await bridge.vlans('hdbr')).some(({ id }) => id === 100));
  await bridge.deleteVlan('hd0', { id: 200, lastId: 203 });
  assert.ok(!(await bridge.vlans('hd0')).some(({ id }) => id >= 200));
});

test('entries of a bridge', async () => {
  using lab = await labWithPort();
  const { bridge, links } = lab.session;
  const { index } = await links.get('hd0');
  await bridge.addFdb({ link: 'hd0', mac: MAC, master: true, permanent: false, protocol: 99 });
  const find = async () => (await bridge.fdb('hd0')).find(({ mac }) => mac.equals(MAC));
  const entry = await find();
  assert.deepEqual(
    [entry?.link, entry?.master, entry?.permanent, entry?.self],
    [index, (await links.get('hdbr')).index, false, false],
  );
  const seen = lab
    .json('bridge', '-d', '-j', 'fdb', 'show', 'dev', 'hd0')
    .find(({ mac }) => mac === String(MAC));
  assert.equal(seen?.['master'], 'hdbr');
  await assert.rejects(bridge.addFdb({ link: 'hd0', mac: MAC, master: true }), (error) =>
    NetlinkError.is(error, 'EEXIST'),
  );
  await bridge.replaceFdb({ link: 'hd0', mac: MAC, master: true, state: 0x40 });
  assert.equal((await find())?.state, 0x40);
  assert.ok((await bridge.fdb({ master: 'hdbr' })).some(({ mac }) => mac.equals(MAC)));
  await bridge.deleteFdb({ link: 'hd0', mac: MAC, master: true });
  assert.equal(await find(), undefined);
  await assert.rejects(bridge.deleteFdb({ link: 'hd0', mac: MAC, master: true }), (error) =>
    NetlinkError.is(error, 'ENOENT'),
  );
});

for (const [local, ...remotes] of [
  ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
  ['2001:db8::1', '2001:db8::2', '2001:db8::3'],
] as const) {
  test(`entries of a VXLAN from ${local}`, async () => {
    using lab = new TestNetns();
    const { bridge, links } = lab.session;
    await links.add({
      name: 'hdvx',
      kind: 'vxlan',
      id: 42,
      port: 4789,
      local: Addr.parse(local),
      learning: false,
      up: true,
    });
    await bridge.addFdb({ link: 'hdvx', mac: MAC, dst: Addr.parse(remotes[0]), vni: 43 });
    for (const remote of remotes)
      await bridge.appendFdb({ link: 'hdvx', mac: Mac.ZERO, dst: Addr.parse(remote) });
    const entries = await bridge.fdb('hdvx');
    const entry = entries.find(({ mac }) => mac.equals(MAC));
    assert.deepEqual(
      [`${entry?.dst}`, entry?.vni, entry?.self, entry?.permanent],
      [remotes[0], 43, true, true],
    );
    assert.deepEqual(
      entries
        .filter(({ mac }) => mac.isZero)
        .map(({ dst }) => `${dst}`)
        .sort(),
      [...remotes],
    );
    assert.equal(lab.json('bridge', '-d', '-j', 'fdb', 'show', 'dev', 'hdvx').length, 3);
    await bridge.deleteFdb({ link: 'hdvx', mac: MAC, dst: Addr.parse(remotes[0]), vni: 43 });
    assert.equal((await bridge.fdb('hdvx')).length, 2);
  });
}
