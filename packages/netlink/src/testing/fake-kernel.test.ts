/** What the fake kernel offers beside answering like a real one; see `contract/` for that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import { readFileIn, SysError } from '@heddle/sys';
import { encode } from '@heddle/wire';
import { NetlinkError } from '../core/netlink-error.ts';
import { RTM } from '../core/rtm.ts';
import { linkMessage } from '../link/codec.ts';
import { add, chain, element, rule, set, table } from '../nft/changes.ts';
import { ip } from '../nft/operands.ts';
import { drop, match, setRef } from '../nft/statements.ts';
import { dumpDifference, FakeKernel } from './index.ts';

test('namespaces are known by their names, and their handles are targets', async () => {
  const kernel = new FakeKernel();
  using host = kernel.session('host');
  using again = kernel.session('host');
  using pod = kernel.session('pod');
  assert.equal(host.netns.key, again.netns.key);
  assert.notEqual(host.netns.key, pod.netns.key);
  assert.ok(host.handle.sameAs(kernel.netns('host')));
  await host.links.add({ name: 'veth0', kind: 'veth', peer: { name: 'eth0', netns: kernel.netns('pod') } });
  assert.equal((await again.links.get('veth0')).kind, 'veth');
  assert.equal((await pod.links.get('eth0')).kind, 'veth');
});

test('a handle leads to no real namespace', async () => {
  const handle = new FakeKernel().netns('host');
  assert.throws(
    () => readFileIn(handle, '/proc/sys/net/ipv4/ip_forward'),
    (error) => SysError.is(error, 'EBADF'),
  );
});

test('a closed session is refused as a real one is', async () => {
  const host = new FakeKernel().session('host');
  host[Symbol.dispose]();
  await assert.rejects(host.links.list(), (error) => NetlinkError.is(error, 'EBADF'));
});

test('a request fails as it is told to, once or several times, and nothing of it is done', async () => {
  const kernel = new FakeKernel();
  using host = kernel.session('host');
  kernel.failNext({ match: 'RTM_NEWLINK', errno: 'EBUSY', message: 'not now' });
  await assert.rejects(host.links.add({ name: 'br0', kind: 'bridge' }), {
    message: 'add link br0 (bridge): EBUSY (kernel: not now)',
  });
  await host.links.add({ name: 'br0', kind: 'bridge' });
  kernel.failNext({
    match: ({ namespace, name }) => namespace === 'host' && name.startsWith('RTM_GET'),
    errno: 'ENOBUFS',
    times: 2,
  });
  await assert.rejects(host.links.list(), /ENOBUFS/);
  await assert.rejects(host.routes.list(), /ENOBUFS/);
  assert.equal((await host.links.list()).length, 2);
});

test('what is sent is seen, and carried out when it is left to be', async () => {
  const seen: string[] = [];
  const kernel = new FakeKernel({
    around({ namespace, messages }, carryOut) {
      const before = kernel.dump('host');
      carryOut();
      const did = kernel.dump('host') === before ? 'nothing' : 'something';
      seen.push(`${namespace}: ${messages.map(({ type }) => type)} did ${did}`);
    },
  });
  using host = kernel.session('host');
  await host.links.list();
  const blackhole = (dst: string) => host.routes.plan.add({ dst: Prefix.parse(dst), type: 'blackhole' });
  await host.batch([blackhole('10.1.0.0/26'), blackhole('10.1.0.64/26')]);
  assert.deepEqual(seen, [
    `host: ${RTM.GETLINK} did nothing`,
    `host: ${RTM.NEWROUTE},${RTM.NEWROUTE} did something`,
  ]);
});

test('of a batch of nf_tables nothing is done when one message fails as it is told to', async () => {
  const kernel = new FakeKernel();
  using host = kernel.session('host');
  const before = kernel.dump();
  kernel.failNext({ match: 'NFT_MSG_NEWCHAIN', errno: 'ENOMEM' });
  const changes = [
    add(table({ family: 'inet', name: 't' })),
    add(chain({ family: 'inet', table: 't', name: 'c' })),
  ];
  await assert.rejects(host.nft.commit(changes), /add chain inet t c: ENOMEM/);
  assert.equal(kernel.dump(), before);
  await host.nft.commit(changes);
});

test('subscribers are told when events are lost', async () => {
  const kernel = new FakeKernel();
  using host = kernel.session('host');
  const { promise, resolve } = Promise.withResolvers<void>();
  using _watching = host.subscribe({ groups: ['link'], onEvent: () => undefined, onResync: resolve });
  kernel.loseEvents('host');
  await promise;
});

test('flows are those that a test puts there', async () => {
  const kernel = new FakeKernel();
  using host = kernel.session('host');
  const [client, service, pod] = ['192.0.2.1', '192.0.2.2', '10.1.0.2'].map((text) => Addr.parse(text));
  if (client === undefined || service === undefined || pod === undefined) assert.fail();
  const flow = (id: number, dport: number) => ({
    ...({ family: 4, protocol: 17, status: 0, timeout: 30, mark: 0, zone: 0, id } as const),
    original: { src: client, dst: service, sport: 4000, dport },
    reply: { src: pod, dst: client, sport: dport, dport: 4000 },
  });
  kernel.addFlow('host', flow(1, 53));
  kernel.addFlow('host', flow(2, 80));
  assert.deepEqual(await host.conntrack.list({ family: 4 }), [flow(1, 53), flow(2, 80)]);
  assert.equal(
    await host.conntrack.deleteMatching(() => true, { family: 4, protocol: 17, original: { dport: 53 } }),
    1,
  );
  assert.deepEqual(
    (await host.conntrack.list()).map(({ id }) => id),
    [2],
  );
  await assert.rejects(host.conntrack.delete(flow(1, 53)), (error) => NetlinkError.is(error, 'ENOENT'));
});

test('frames are kept, and go nowhere', async () => {
  const kernel = new FakeKernel();
  using host = kernel.session('host');
  await host.links.set('lo', { up: true });
  const frame = new Uint8Array(60);
  await host.packets.send('lo', frame);
  assert.deepEqual(kernel.sentFrames('host'), [{ link: 'lo', frame }]);
});

test('a kernel may be built without a kind of link', async () => {
  const kernel = new FakeKernel({ without: ['vrf', 'bridge-vlan'] });
  using host = kernel.session('host');
  await assert.rejects(host.links.add({ name: 'v', kind: 'vrf', table: 5 }), (error) =>
    NetlinkError.is(error, 'EOPNOTSUPP'),
  );
  await assert.rejects(host.links.add({ name: 'b', kind: 'bridge', vlanFiltering: true }), (error) =>
    NetlinkError.is(error, 'EOPNOTSUPP'),
  );
});

test('what it does not know is refused by name, never guessed', async () => {
  const kernel = new FakeKernel();
  using host = kernel.session('host');
  await assert.rejects(host.links.add({ name: 'g0', kind: 'geneve', id: 1 }), (error) =>
    NetlinkError.is(error, 'EOPNOTSUPP'),
  );
  await host.links.add({ name: 'br0', kind: 'bridge' });
  const strange = encode(linkMessage, {
    index: 2,
    attributes: { unknown: [{ id: 77, data: new Uint8Array(4) }] },
  });
  const send = host.batch([() => ({ type: RTM.SETLINK, operation: 'something new', body: strange })]);
  await assert.rejects(
    send,
    /something new: EOPNOTSUPP \(kernel: the fake kernel has no attribute 77 in IFLA/,
  );
  await assert.rejects(
    host.qdiscs.add({ link: 'br0', kind: 'raw', name: 'fq' }),
    /EOPNOTSUPP \(kernel: the fake kernel has no queueing discipline fq\)/,
  );
});

test('two dumps tell what changed, and are equal when nothing did', async () => {
  const kernel = new FakeKernel();
  using host = kernel.session('host');
  using pod = kernel.session('pod');
  const where = { family: 'inet', table: 't' } as const;
  await host.links.add({ name: 'br0', kind: 'bridge', up: true, mac: Mac.parse('02:00:00:00:00:01') });
  await host.nft.commit([
    ...[
      table({ family: 'inet', name: 't' }),
      chain({ ...where, name: 'c' }),
      set({ ...where, name: 's', key: 'ipv4_addr', intervals: true }),
    ].map(add),
    add(
      rule({
        ...where,
        chain: 'c',
        expressions: [match(ip.saddr, 'in', setRef('s')), drop()],
        comment: 'ours',
      }),
    ),
  ]);
  const before = kernel.dump();
  const pods = element({ ...where, set: 's', key: Prefix.parse('10.0.0.0/24'), comment: 'pods' });
  await host.links.add({
    name: 'veth0',
    kind: 'veth',
    master: 'br0',
    peer: { name: 'eth0', netns: pod.handle },
  });
  await host.sysctl.write('net/ipv4/conf/veth0/proxy_arp', 1);
  await pod.addresses.add({ link: 'eth0', prefix: Prefix.parse('10.0.0.2/24'), broadcast: 'auto' });
  await host.nft.commit([add(pods)]);
  const difference = dumpDifference(before, kernel.dump()).split('\n');
  for (const line of [
    '+ pod: address 10.0.0.2/24 dev eth0 brd 10.0.0.255 scope global',
    '+ pod: route local 10.0.0.2/32 dev eth0 table local proto kernel scope host src 10.0.0.2',
    '+ host: vlan 1 dev veth0 pvid untagged',
    '+ host: sysctl net/ipv4/conf/veth0/proxy_arp = 1',
    '+ host: nft inet t set s element 10.0.0.0/24 comment "pods"',
  ]) {
    assert.ok(difference.includes(line), `${line} is not in\n${difference.join('\n')}`);
  }
  assert.ok(difference.some((line) => line.startsWith('+ host: link veth0@pod/eth0 veth down mtu 1500')));
  await host.links.delete('veth0');
  await host.nft.commit([{ op: 'delete', object: pods }]);
  assert.equal(dumpDifference(before, kernel.dump()), '');
  assert.equal(kernel.dump(), before);
});
