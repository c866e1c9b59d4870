/** The chain of the network that `heddle up` writes, and tuning behind it: what its traffic sees, and what it leaves. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertUnchanged } from '../support/leftovers.ts';
import { missing } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { ChainNode, NODE, OUTSIDE, type Question } from './chain-node.ts';

const FAMILIES = [4, 6] as const;
const PROTOCOLS = ['tcp', 'udp'] as const;
/** Bits per second, and bits that may come at once. */
const RATE = 8_000_000;
const BURST = 1_000_000;
const portMappings = [
  { hostPort: 8080, containerPort: 80, protocol: 'tcp' },
  { hostPort: 8080, containerPort: 80, protocol: 'udp' },
  { hostPort: 8081, containerPort: 81, protocol: 'tcp' },
];
const bandwidth = { ingressRate: RATE, ingressBurst: BURST, egressRate: RATE, egressBurst: BURST };
const everything = { portMappings, bandwidth };
const withPrograms = { skip: missing('iptables') || missing('nft') || missing('tc') };

const started = () =>
  ChainNode.joined((directory) => [
    {
      ...{ type: 'tuning', mtu: 1300, dataDir: join(directory, 'tuning') },
      sysctl: { 'net.ipv4.conf.IFNAME.arp_filter': '1' },
    },
  ]);

const published: readonly Question[] = FAMILIES.flatMap((family) =>
  PROTOCOLS.map((protocol): Question => [NODE[family], protocol, 8080]),
);

test(
  'published ports are reached from outside, from the node and from pods, over both families',
  withPrograms,
  async () => {
    await using node = await started();
    const [web, other] = [node.pod('web', everything), node.pod('other')];
    const { address } = await node.add(web);
    const theirs = await node.add(other);
    await node.serve(web.netns, 'web', 80);
    // Those outside keep their address.
    const fromOutside = FAMILIES.flatMap((family) => PROTOCOLS.map(() => `web ${OUTSIDE[family]}`));
    assert.deepEqual(node.ask(node.outside, published), fromOutside);
    for (const from of [node.host, other.netns, web.netns]) {
      for (const answer of node.ask(from, published)) assert.match(answer, /^web /);
    }
    assert.match(node.ask(node.host, [['127.0.0.1', 'tcp', 8080]])[0] ?? '', /^web /);
    const direct = FAMILIES.flatMap((family) =>
      PROTOCOLS.map((protocol): Question => [address[family], protocol, 80]),
    );
    assert.deepEqual(
      node.ask(other.netns, direct),
      FAMILIES.flatMap((family) => PROTOCOLS.map(() => `web ${theirs.address[family]}`)),
    );
    await node.cni.del(node.network, web.attachment);
    assert.deepEqual(node.ask(node.outside, published, 1), ['', '', '', '']);
  },
);

test(
  'limits hold in both directions, over both families, for published ports too',
  withPrograms,
  async () => {
    await using node = await started();
    const web = node.pod('web', everything);
    await node.add(web);
    await node.serve(web.netns, 'web', 80);
    await node.serve(node.outside, 'outside', 80);
    const bytes = 1_000_000;
    // A busy machine takes longer; never less, as headers count too.
    const least = (bytes * 8 - BURST) / RATE;
    for (const family of FAMILIES) {
      const inward = node.send(node.outside, NODE[family], 8081, bytes);
      assert.ok(inward >= least, `IPv${family} to the pod: ${inward} s`);
      const outward = node.send(web.netns, OUTSIDE[family], 81, bytes);
      assert.ok(outward >= least, `IPv${family} from the pod: ${outward} s`);
    }
  },
);

test(
  'where the node forwards nothing else, it forwards for pods, but for what the operator keeps out',
  withPrograms,
  async () => {
    await using node = await started();
    const [web, other] = [node.pod('web', everything), node.pod('other')];
    for (const program of ['iptables', 'ip6tables']) node.host.run(`${program} -P FORWARD DROP`);
    // Of IPv6 the plugin makes the operator's chain itself.
    node.host.run('iptables -N CNI-ADMIN');
    const { address } = await node.add(web);
    await node.add(other);
    await node.serve(web.netns, 'web', 80);
    await node.serve(node.outside, 'outside', 80);
    const outward = FAMILIES.flatMap((family) =>
      PROTOCOLS.map((protocol): Question => [OUTSIDE[family], protocol, 80]),
    );
    for (const answer of node.ask(web.netns, outward)) assert.match(answer, /^outside /);
    for (const from of [node.host, other.netns]) {
      for (const answer of node.ask(from, published)) assert.match(answer, /^web /);
    }
    const inward = [...FAMILIES.map((family): Question => [address[family], 'tcp', 80]), ...published];
    for (const answer of node.ask(node.outside, inward)) assert.match(answer, /^web /);
    // The operator's chain decides before.
    node.host.run('iptables -A CNI-ADMIN -d 10.244.0.0/16 -j DROP');
    node.host.run('ip6tables -A CNI-ADMIN -d fd00:10:244::/112 -j DROP');
    assert.deepEqual(node.ask(node.outside, inward, 1), ['', '', '', '', '', '']);
  },
);

test('a pod is heard under its own addresses only, by its node and beyond', withPrograms, async () => {
  await using node = await started();
  const [liar, other] = [node.pod('liar'), node.pod('other')];
  const own = (await node.add(liar)).address;
  const theirs = (await node.add(other)).address;
  const stolen = { 4: '203.0.113.9', 6: '2001:db8:9::9' } as const;
  for (const family of FAMILIES) {
    const bits = family === 4 ? 32 : 128;
    // Whoever is asked has a way to answer, so that only the question can have been lost.
    node.outside.run(`ip -${family} route replace ${stolen[family]} via ${NODE[family]}`);
    node.host.run(`ip -${family} route add ${stolen[family]} via ${OUTSIDE[family]}`);
    for (const target of [OUTSIDE[family], NODE[family], theirs[family]]) {
      assert.ok(liar.netns.pings(target, '-I', own[family]), target);
      for (const source of [stolen[family], theirs[family]]) {
        if (source === target) continue;
        liar.netns.run(`ip address add ${source}/${bits} dev lo${family === 6 ? ' nodad' : ''}`);
        assert.equal(liar.netns.pings(target, '-I', source), false, `${source} to ${target}`);
        liar.netns.run(`ip address del ${source}/${bits} dev lo`);
      }
    }
  }
  assert.match(node.host.run('nft list chain inet heddle cluster_sources'), /iifgroup != 74/);
  node.host.run('nft flush chain inet heddle cluster_sources');
  await until(
    'the rules are there again',
    () => node.host.run('nft list chain inet heddle cluster_sources').includes('drop') || undefined,
  );
});

test('CHECK passes, and finds what any plugin of the chain has lost', withPrograms, async () => {
  await using node = await started();
  const web = node.pod('web', everything);
  const { result, address } = await node.add(web);
  assert.equal(JSON.parse(web.netns.run('ip -j link show eth0'))[0].mtu, 1300);
  assert.equal(web.netns.run('sysctl -n net.ipv4.conf.eth0.arp_filter').trim(), '1');
  const hostEnd = result.interfaces?.[0]?.name ?? '';
  const check = () => node.cni.check(node.network, web.attachment);
  await check();
  web.netns.run('ip link set eth0 mtu 1400');
  await assert.rejects(check(), { plugin: 'tuning', msg: /mtu of eth0 should be 1300, but is 1400/ });
  web.netns.run('ip link set eth0 mtu 1300');
  await check();
  // From the last plugin to the first: the chain stops at the first that finds something.
  const losses: readonly (readonly [plugin: string, command: string])[] = [
    ['firewall', 'iptables -F CNI-FORWARD'],
    ['bandwidth', `tc qdisc del dev ${hostEnd} root`],
    ['portmap', 'nft flush table inet heddle'],
    ['heddle', `ip route del ${address[4]}/32 dev ${hostEnd}`],
  ];
  for (const [plugin, command] of losses) {
    node.host.run(command);
    await assert.rejects(check(), { plugin }, command);
  }
});

test('DEL leaves nothing, with and without the namespace', withPrograms, async () => {
  await using node = await started();
  const before = await node.settled(node.pod('first', everything));
  const web = node.pod('web', everything);
  await node.add(web);
  assert.notDeepEqual(await node.state(), before);
  await node.cni.del(node.network, web.attachment);
  assertUnchanged(before, await node.state());
  const lost = node.pod('lost', everything);
  await node.add(lost);
  await node.cni.del(node.network, { ...lost.attachment, netns: '/run/netns/gone' });
  assertUnchanged(before, await node.state());
});

test('GC takes down who is gone, and nobody else', withPrograms, async () => {
  await using node = await started();
  await node.settled(node.pod('first', everything));
  const kept = node.pod('kept', everything);
  await node.add(kept);
  await node.serve(kept.netns, 'kept', 80);
  const before = await node.state();
  const stale = node.pod('stale', { bandwidth, portMappings: [{ hostPort: 9090, containerPort: 80 }] });
  await node.add(stale);
  assert.deepEqual([...(await node.holders())].sort(), ['kept', 'stale']);
  await node.cni.gc(node.network, [{ containerID: 'kept', ifname: 'eth0' }]);
  assertUnchanged(before, await node.state());
  await node.cni.check(node.network, kept.attachment);
  assert.deepEqual(
    node.ask(node.outside, published).map((answer) => answer.split(' ')[0]),
    ['kept', 'kept', 'kept', 'kept'],
  );
});
