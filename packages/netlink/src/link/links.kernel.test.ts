import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Mac } from '@heddle/netaddr';
import { NetlinkError } from '../core/netlink-error.ts';
import { TestNetns } from '../testing/test-netns.ts';

const MAC = Mac.parse('0a:58:0a:01:00:02');

test('a fresh namespace has but its loopback', async () => {
  using lab = new TestNetns();
  const [lo, ...others] = await lab.session.links.list();
  assert.deepEqual(others, []);
  assert.equal(lo?.name, 'lo');
  assert.equal(lo?.type, 772);
  assert.equal(lo?.up, false);
});

for (const mode of ['sync', 'threaded'] as const) {
  test(`one message makes a veth pair across namespaces, on a bridge and up (${mode})`, async () => {
    using host = new TestNetns(mode);
    using pod = new TestNetns(mode);
    await host.session.links.add({ name: 'hdbr', kind: 'bridge', up: true });
    await host.session.links.add({
      name: 'hd0',
      kind: 'veth',
      mtu: 1400,
      up: true,
      master: 'hdbr',
      peer: { name: 'eth0', mac: MAC, mtu: 1400, netns: pod.handle },
    });

    const bridge = await host.session.links.get('hdbr');
    const hd0 = await host.session.links.get('hd0');
    const eth0 = await pod.session.links.get('eth0');
    assert.equal(hd0.kind, 'veth');
    assert.equal(hd0.up, true);
    assert.equal(hd0.master, bridge.index);
    assert.equal(hd0.parent, eth0.index);
    assert.equal(typeof hd0.parentNetnsId, 'number');
    assert.equal(hd0.port?.hairpin, false);
    assert.equal(eth0.up, false);
    assert.ok(eth0.mac?.equals(MAC));

    const [seen] = host.json('ip', '-d', '-j', 'link', 'show', 'hd0');
    assert.equal(seen?.['ifname'], 'hd0');
    assert.equal(seen?.['master'], 'hdbr');
    assert.equal(seen?.['mtu'], 1400);
    assert.equal(seen?.['link_index'], eth0.index);
    assert.equal(seen?.['address'], String(hd0.mac));
    assert.equal(pod.json('ip', '-d', '-j', 'link', 'show', 'eth0')[0]?.['address'], String(MAC));
  });
}

test('a veth may be made in another namespace, with its peer here', async () => {
  using host = new TestNetns();
  using pod = new TestNetns();
  const { session } = host;
  await session.links.add({
    name: 'eth0',
    kind: 'veth',
    netns: pod.handle,
    peer: { name: 'hd0', netns: host.handle },
  });
  assert.equal((await session.links.get('hd0')).kind, 'veth');
  assert.equal((await pod.session.links.get('eth0')).kind, 'veth');
});

test('a link that is there already is EEXIST, and nothing is left of the other end', async () => {
  using host = new TestNetns();
  using pod = new TestNetns();
  const spec = { name: 'hd0', kind: 'veth', peer: { name: 'eth0', netns: pod.handle } } as const;
  await host.session.links.add(spec);
  await assert.rejects(host.session.links.add({ ...spec, peer: { ...spec.peer, name: 'eth1' } }), (error) => {
    assert.ok(NetlinkError.is(error, 'EEXIST'));
    assert.match(error.message, /^add link hd0 \(veth\): EEXIST/);
    return true;
  });
  assert.deepEqual(
    (await pod.session.links.list({ kind: 'veth' })).map(({ name }) => name),
    ['eth0'],
  );
});

test('everything that can be set is set with one message', async () => {
  using lab = new TestNetns();
  const { links } = lab.session;
  await links.add({ name: 'hd0', kind: 'veth', peer: { name: 'hd1' } });
  await links.add({ name: 'hdbr', kind: 'bridge' });
  await links.set('hd0', {
    name: 'hdx',
    mac: MAC,
    mtu: 1300,
    alias: 'who: me',
    master: 'hdbr',
    promiscuous: true,
    allmulti: true,
    txQueueLength: 7,
    group: 5,
    up: true,
  });
  const link = await links.get('hdx');
  assert.ok(link.mac?.equals(MAC));
  assert.equal(link.mtu, 1300);
  assert.equal(link.alias, 'who: me');
  assert.equal(link.txQueueLength, 7);
  assert.equal(link.group, 5);
  assert.equal(link.allmulti, true);
  assert.equal(link.up, true);
  assert.ok(link.promiscuity >= 2);
  const [seen] = lab.json('ip', '-d', '-j', 'link', 'show', 'hdx');
  assert.deepEqual(
    [seen?.['ifalias'], seen?.['txqlen'], seen?.['group'], seen?.['master'], seen?.['promiscuity']],
    ['who: me', 7, '5', 'hdbr', link.promiscuity],
  );

  await links.set('hdx', { alias: '', master: 0, promiscuous: false, allmulti: false, up: false });
  const plain = await links.get('hdx');
  assert.equal(plain.alias, undefined);
  assert.equal(plain.master, undefined);
  assert.equal(plain.promiscuity, 0);
  assert.equal(plain.allmulti, false);
  assert.equal(plain.up, false);
  assert.equal(plain.port, undefined);
});

test('a link is moved to another namespace', async () => {
  using here = new TestNetns();
  using there = new TestNetns();
  await here.session.links.add({ name: 'hd0', kind: 'ifb' });
  await here.session.links.set('hd0', { netns: there.session.handle });
  assert.equal(await here.session.links.find('hd0'), undefined);
  assert.equal((await there.session.links.get('hd0')).kind, 'ifb');
});

test('deleting one end deletes the other; what is absent is ENODEV', async () => {
  using lab = new TestNetns();
  const { links } = lab.session;
  await links.add({ name: 'hd0', kind: 'veth', peer: { name: 'hd1' } });
  await links.delete((await links.get('hd0')).index);
  assert.equal(await links.find('hd1'), undefined);
  await assert.rejects(links.delete('hd0'), (error) => NetlinkError.is(error, 'ENODEV'));
  await assert.rejects(links.get('hd0'), (error) => NetlinkError.is(error, 'ENODEV'));
  await assert.rejects(links.set('hd0', { up: true }), (error) => NetlinkError.is(error, 'ENODEV'));
  await assert.rejects(links.delete(4242), (error) => NetlinkError.is(error, 'ENODEV'));
});

test('links are listed by kind, master and name', async () => {
  using lab = new TestNetns();
  const { links } = lab.session;
  await links.add({ name: 'hdbr', kind: 'bridge' });
  await links.add({ name: 'hd0', kind: 'veth', master: 'hdbr', peer: { name: 'hd1' } });
  const names = async (filter: Parameters<typeof links.list>[0]) =>
    (await links.list(filter)).map(({ name }) => name).sort();
  assert.deepEqual(await names({ kind: 'veth' }), ['hd0', 'hd1']);
  assert.deepEqual(await names({ master: 'hdbr' }), ['hd0']);
  assert.deepEqual(await names({ names: ['lo', 'hdbr'] }), ['hdbr', 'lo']);
  assert.deepEqual(await names({ kind: 'no-such-kind' }), []);
});

test('a link is found by an alternative name longer than an ordinary one', async () => {
  using lab = new TestNetns();
  const { links } = lab.session;
  await links.add({ name: 'hd0', kind: 'bridge' });
  lab.run('ip', 'link', 'property', 'add', 'dev', 'hd0', 'altname', 'a-rather-long-name-for-a-link');
  const link = await links.get('a-rather-long-name-for-a-link');
  assert.equal(link.name, 'hd0');
  assert.deepEqual(link.altNames, ['a-rather-long-name-for-a-link']);
  await links.set('a-rather-long-name-for-a-link', { mtu: 1400 });
  assert.equal((await links.get('hd0')).mtu, 1400);
  await links.delete('a-rather-long-name-for-a-link');
  assert.equal(await links.find('hd0'), undefined);
});

test('a whole group is deleted at once', async () => {
  using lab = new TestNetns();
  const { links } = lab.session;
  for (let n = 0; n < 4; n++) await links.add({ name: `hd${n}`, kind: 'bridge', group: 77 });
  await links.deleteGroup(77);
  assert.deepEqual(await links.list({ kind: 'bridge' }), []);
  await assert.rejects(links.deleteGroup(77), (error) => NetlinkError.is(error, 'ENODEV'));
});

test('several changes go in one send, and each that is refused is named', async () => {
  using lab = new TestNetns();
  const { session } = lab;
  const { links } = session;
  await session.batch([
    links.plan.add({ name: 'hd0', kind: 'bridge' }),
    links.plan.add({ name: 'hd1', kind: 'bridge' }),
  ]);
  await assert.rejects(
    session.batch([
      links.plan.add({ name: 'hd0', kind: 'bridge' }),
      links.plan.set(1, { up: true }),
      links.plan.delete('hd9'),
    ]),
    /2 of 3 changes: add link hd0 \(bridge\): EEXIST.*; delete link hd9: ENODEV/,
  );
  assert.equal((await links.get('lo')).up, true);
});

test('a thousand links, made and listed', async () => {
  using lab = new TestNetns('threaded');
  const { links } = lab.session;
  const names = Array.from({ length: 1000 }, (_, n) => `hd${n}`);
  await lab.session.batch(names.map((name) => links.plan.add({ name, kind: 'ifb', group: 9 })));
  assert.equal((await links.list({ kind: 'ifb' })).length, 1000);
  await links.deleteGroup(9);
});
