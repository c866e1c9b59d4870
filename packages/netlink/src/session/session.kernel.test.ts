import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import { AF, currentNetns, recv, SOCK, SysError, socket } from '@heddle/sys';
import { NetlinkError } from '../core/netlink-error.ts';
import { TestNetns } from '../testing/test-netns.ts';
import type { KernelEvent } from './events.ts';
import { openSession } from './session.ts';

function openFiles(): number {
  return readdirSync('/proc/self/fd').length;
}

test('opening a session opens nothing; using it opens one socket; closing it leaves none', async () => {
  const before = openFiles();
  const session = openSession({ mode: 'sync' });
  assert.equal(openFiles(), before);
  await session.links.list();
  await session.addresses.list();
  assert.equal(openFiles(), before + 1);
  session[Symbol.dispose]();
  assert.equal(openFiles(), before);
  await assert.rejects(session.links.list(), (error) => NetlinkError.is(error, 'EBADF'));
});

test('a session without a namespace is in the own one', async () => {
  using session = openSession({ mode: 'sync' });
  using own = currentNetns();
  assert.equal(session.netns.key, own.key);
  assert.ok(session.handle.sameAs(own));
});

test('a session is in the namespace that it was given, whatever thread it uses', async () => {
  using lab = new TestNetns('threaded');
  assert.equal(lab.session.netns.key, lab.handle.key);
  const lists = await Promise.all(Array.from({ length: 50 }, () => lab.session.links.list()));
  for (const links of lists)
    assert.deepEqual(
      links.map(({ name }) => name),
      ['lo'],
    );
});

test('sysctls are those of the namespace, and the own ones stay as they are', async () => {
  using lab = new TestNetns();
  const { sysctl } = lab.session;
  const own = readFileSync('/proc/sys/net/ipv4/ip_forward', 'utf8');
  const other = own.trim() === '1' ? '0' : '1';
  await sysctl.write('net/ipv4/ip_forward', other);
  assert.equal(await sysctl.read('net.ipv4.ip_forward'), other);
  assert.equal(readFileSync('/proc/sys/net/ipv4/ip_forward', 'utf8'), own);
  await sysctl.write('net.ipv4.conf.lo.forwarding', 1);
  assert.equal(await sysctl.read('net/ipv4/conf/lo/forwarding'), '1');
});

test('a dot in the name of a link is no separator where slashes are', async () => {
  using lab = new TestNetns();
  await lab.session.links.add({ name: 'hd0.100', kind: 'bridge' });
  const { sysctl } = lab.session;
  await sysctl.write('net/ipv4/conf/hd0.100/proxy_arp', '1');
  assert.equal(await sysctl.read('net.ipv4.conf.hd0/100.proxy_arp'), '1');
});

test('whether there is a parameter', async () => {
  using lab = new TestNetns();
  const { sysctl } = lab.session;
  assert.equal(await sysctl.has('net.ipv4.ip_forward'), true);
  assert.equal(await sysctl.has('net/ipv4/no_such_thing'), false);
  assert.equal(await sysctl.has('net/ipv4/conf'), false);
  await assert.rejects(sysctl.read('net.ipv4.no_such_thing'), (error) => SysError.is(error, 'ENOENT'));
  await assert.rejects(sysctl.write('net.ipv4.ip_forward', 'x'), (error) => SysError.is(error, 'EINVAL'));
});

test('a frame leaves as it was given', async () => {
  using lab = new TestNetns();
  const { links, packets } = lab.session;
  await links.add({ name: 'hd0', kind: 'veth', up: true, peer: { name: 'hd1' } });
  await links.set('hd1', { up: true });
  const ETH_P_EXPERIMENT = 0x88b5;
  using listener = socket({
    family: AF.PACKET,
    type: SOCK.RAW,
    protocol: 0xb588,
    netns: lab.handle,
    nonblocking: true,
  });
  const frame = Uint8Array.of(
    ...Mac.BROADCAST.toBytes(),
    ...Mac.parse('0a:00:00:00:00:01').toBytes(),
    ETH_P_EXPERIMENT >> 8,
    ETH_P_EXPERIMENT & 0xff,
    ...new Uint8Array(46).fill(7),
  );
  await packets.send('hd0', frame);
  assert.deepEqual([...(recv(listener) ?? [])], [...frame]);
  await assert.rejects(packets.send('lo', frame), (error) => SysError.is(error, 'ENETDOWN'));
});

test('changes are told in order, those made by others too', async () => {
  using lab = new TestNetns('threaded');
  const { session } = lab;
  const events: KernelEvent[] = [];
  const seen = new Set<string>();
  const { promise, resolve } = Promise.withResolvers<void>();
  using _watching = session.subscribe({
    groups: ['link', 'address4', 'address6', 'route4', 'rule6', 'neighbour', 'tc'],
    onResync: () => assert.fail('nothing should be lost'),
    onEvent(event) {
      events.push(event);
      seen.add(`${event.action} ${event.kind}`);
      if (event.kind === 'link' && event.action === 'delete' && event.link.name === 'hdbr') resolve();
    },
  });
  await session.links.add({ name: 'hdbr', kind: 'bridge', up: true });
  await session.links.add({ name: 'hd0', kind: 'veth', up: true, master: 'hdbr', peer: { name: 'hd1' } });
  lab.run('ip', 'address', 'add', '10.0.0.1/24', 'dev', 'hdbr');
  lab.run('ip', 'link', 'set', 'hd1', 'up');
  await session.rules.add({ from: Prefix.parse('fd00::/64'), table: 9 });
  await session.neighbours.add({ link: 'hdbr', address: Addr.parse('10.0.0.2'), mac: Mac.ZERO });
  await session.qdiscs.add({ link: 'hd0', kind: 'ingress' });
  await session.links.set('hd0', { master: 0 });
  await session.links.delete('hd0');
  await session.links.delete('hdbr');
  await promise;
  for (const what of [
    'new link',
    'new port',
    'delete port',
    'new address',
    'new route',
    'new rule',
    'new neighbour',
    'new fdb',
    'new qdisc',
    'delete link',
  ]) {
    assert.ok(seen.has(what), `${what} was not told of`);
  }
  const names = events.flatMap((event) =>
    event.kind === 'link' ? [`${event.action} ${event.link.name}`] : [],
  );
  assert.equal(names[0], 'new hdbr');
  assert.equal(names.at(-1), 'delete hdbr');
});

test('when events are lost, it is said so, and later ones arrive', async () => {
  using lab = new TestNetns('threaded');
  const { session } = lab;
  let lost = 0;
  let last = '';
  const { promise, resolve } = Promise.withResolvers<void>();
  using _watching = session.subscribe({
    groups: ['link'],
    receiveBuffer: 4096,
    onResync: () => {
      lost++;
    },
    onEvent(event) {
      if (event.kind === 'link') last = event.link.name;
      if (last === 'hdlast') resolve();
    },
  });
  const changes = Array.from({ length: 200 }, (_, n) =>
    session.links.plan.add({ name: `hd${n}`, kind: 'ifb' }),
  );
  await session.batch(changes);
  while (lost === 0) await new Promise((done) => setTimeout(done, 5));
  await new Promise((done) => setTimeout(done, 20));
  await session.links.add({ name: 'hdlast', kind: 'ifb' });
  await promise;
  assert.ok(lost > 0);
});

test('what is told after a loss is newer than it: a list made then never gets out of date', async () => {
  using lab = new TestNetns();
  const names = Array.from({ length: 12 }, (_, n) => `hd${n}`);
  const told: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  using _watching = lab.session.subscribe({
    groups: ['link'],
    receiveBuffer: 4096,
    onResync: () => told.push('resync'),
    onEvent(event) {
      if (event.kind !== 'link') return;
      told.push(`${event.action} ${event.link.name}`);
      if (event.link.name === 'hdlast') resolve();
    },
  });
  // Nobody can take an event between these: they run to their end on this thread.
  for (const name of names) await lab.session.links.add({ name, kind: 'ifb' });
  for (const name of names) await lab.session.links.delete(name);
  while (!told.includes('resync')) await new Promise((done) => setTimeout(done, 5));
  await lab.session.links.add({ name: 'hdlast', kind: 'ifb' });
  await promise;
  assert.deepEqual(new Set(told.slice(told.indexOf('resync'))), new Set(['resync', 'new hdlast']));
});

test('an ended subscription tells of nothing more and leaves no file open', async () => {
  using lab = new TestNetns('threaded');
  await lab.session.links.list();
  const before = openFiles();
  let told = 0;
  const watching = lab.session.subscribe({
    groups: ['link', 'nft'],
    onEvent: () => told++,
    onResync: () => undefined,
  });
  assert.ok(openFiles() >= before + 2);
  watching[Symbol.dispose]();
  await lab.session.links.add({ name: 'hd0', kind: 'ifb' });
  await new Promise((done) => setTimeout(done, 20));
  assert.equal(told, 0);
  assert.ok(openFiles() <= before + 3, 'the sockets are closed');
});

test('nf_tables is spoken to in the same namespace', async () => {
  using lab = new TestNetns();
  lab.run('nft', 'add', 'table', 'inet', 'hdtest');
  assert.deepEqual(
    (await lab.session.nft.tables()).map(({ name }) => name),
    ['hdtest'],
  );
});
