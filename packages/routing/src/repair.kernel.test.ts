import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leavesChecksums } from '@heddle/dataplane';
import { removeGoneNode } from './cluster/nodes.ts';
import type { RouterEvent } from './router.ts';
import { hasTunnelsOf, TestCluster, type TestNode } from './testing/test-cluster.ts';
import { until } from './testing/until.ts';

/** Two nodes with pods, one family wrapped and one direct, and what the first one's kernel has of it. */
async function pair() {
  const cluster = new TestCluster();
  await cluster.pool('v4', '10.244.0.0/16', { encapsulation: 'always', natOutgoing: true });
  await cluster.pool('v6', 'fd00:10:244::/48', { encapsulation: 'cross-subnet', natOutgoing: true });
  const segment = cluster.segment();
  /** When changes of others were repaired, in monotonic milliseconds. */
  const repairs: number[] = [];
  const onEvent = ({ kind }: RouterEvent) => void (kind === 'applied' && repairs.push(performance.now()));
  const one = await cluster.node('n1', segment, ['192.0.2.1/24', 'fd00::1/64'], { router: { onEvent } });
  const two = await cluster.node('n2', segment, ['192.0.2.2/24', 'fd00::2/64']);
  const pods = [await one.pod(), await two.pod()] as const;
  for (const address of pods[1].addresses)
    await until('they reach each other', () => pods[0].netns.pings(address));
  await until(
    'they have told their tunnel addresses',
    () => hasTunnelsOf(one, two) && hasTunnelsOf(two, one),
  );
  await one.router.resync();
  return {
    cluster,
    segment,
    one,
    two,
    pods,
    repairs,
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

/** All that routing made on a node, as text; without numbers that differ from one making to the next. */
function made({ netns }: TestNode): string {
  const link = netns.run('ip -d -o link show group 72').replace(/^\d+: /gm, '');
  const commands = [
    'ip -o address show dev heddle-vxlan scope global',
    'ip -4 route show metric 72',
    'ip -6 route show metric 72',
    'ip neigh show dev heddle-vxlan nud permanent',
    'ip -6 neigh show dev heddle-vxlan nud permanent',
    'bridge fdb show dev heddle-vxlan',
  ];
  const texts = commands.map((command) =>
    netns
      .run(command)
      .replace(/^\d+: /gm, '')
      .split('\n')
      .sort()
      .join('\n'),
  );
  const tables = ['inet heddle', 'ip filter', 'ip6 filter'];
  const list = tables.map((table) => `nft -s list table ${table} || true`).join('; ');
  const ruleset = netns.run('sh', '-c', list);
  const sysctls = netns.run(
    'sysctl net.ipv4.ip_forward net.ipv6.conf.all.forwarding net.ipv4.conf.heddle-vxlan.rp_filter',
  );
  return [link, ...texts, sysctls, ruleset].join('\n').replaceAll(/ (handle|pref|qlen|expires) \S+/g, '');
}

/** What somebody may do, by accident or not. */
function harms({ block4, block6, mac, tunnel }: Record<string, string>): readonly string[] {
  return [
    'ip link delete heddle-vxlan',
    'ip link set heddle-vxlan down',
    'ip link set heddle-vxlan mtu 1300',
    'ip link set heddle-vxlan group 9',
    'ip link set heddle-vxlan alias mine',
    'ip link set heddle-vxlan address 02:00:00:00:00:09',
    'ip link set heddle-vxlan type vxlan learning',
    'ip address flush dev heddle-vxlan scope global',
    `ip route delete ${block4} metric 72`,
    `ip -6 route delete ${block6} metric 72`,
    `ip route replace ${block4} via 192.0.2.77 dev eth0 metric 72`,
    `ip route replace ${block4} via 192.0.2.77 dev eth0 proto 72 metric 72`,
    `ip -6 route replace blackhole ${block6} proto 72 metric 72`,
    'ip route flush proto 72 type blackhole',
    'ip route add 10.99.0.0/26 via 192.0.2.2 dev eth0 proto 72 metric 72',
    `ip neigh delete ${tunnel} dev heddle-vxlan`,
    `ip neigh replace ${tunnel} lladdr 02:00:00:00:00:07 dev heddle-vxlan nud permanent`,
    'ip neigh add 10.99.0.1 lladdr 02:00:00:00:00:08 dev heddle-vxlan nud permanent proto 72',
    `bridge fdb delete ${mac} dev heddle-vxlan`,
    `bridge fdb replace ${mac} dev heddle-vxlan dst 192.0.2.77 self permanent`,
    'bridge fdb add 02:00:00:00:00:06 dev heddle-vxlan dst 192.0.2.77 self permanent',
    'nft delete table inet heddle',
    'nft flush chain inet heddle cluster_postrouting',
    'nft delete element inet heddle cluster4 { 10.244.0.0/16 }',
    'nft add element inet heddle cluster_outgoing4 { 10.9.0.0/16 }',
    'nft add rule inet heddle cluster_postrouting accept',
    'nft flush chain inet heddle cluster_sources',
    'iptables -F HEDDLE-FORWARD',
    'ip6tables -D FORWARD 1',
    'nft flush ruleset && nft add table inet foreign',
    'sysctl -qw net.ipv4.ip_forward=0',
    'sysctl -qw net.ipv6.conf.all.forwarding=0',
    'sysctl -qw net.ipv4.conf.heddle-vxlan.rp_filter=1',
  ];
}

test('whatever is deleted or altered is as it was within seconds, and what is foreign stays', async (t) => {
  await using both = await pair();
  const { one, two, pods, repairs } = both;
  const { netns } = one;
  const [peer] = one.router.status().peers;
  const block = (family: 4 | 6) => `${peer?.blocks.find(({ cidr }) => cidr.family === family)?.cidr}`;
  const { mac, addresses } = two.membership.record.tunnel;
  const names = { block4: block(4), block6: block(6), mac: `${mac}`, tunnel: `${addresses[0]}` };

  netns.run('ip link add foreign type bridge');
  netns.run('ip link set foreign up');
  netns.run('ip address add 203.0.113.1/24 dev foreign');
  netns.run('ip route add 198.18.0.0/15 via 203.0.113.9 proto 72');
  netns.run('ip route add 198.51.100.0/24 via 203.0.113.9 metric 72');
  netns.run('ip neigh add 203.0.113.7 lladdr 02:00:00:00:00:01 dev foreign nud permanent');
  netns.run('nft add table inet foreign');
  const foreign = () =>
    [
      'ip -o -4 address show dev foreign',
      'ip route show 198.18.0.0/15',
      'ip route show 198.51.100.0/24',
      'ip neigh show dev foreign',
    ].map((command) => netns.run(command));
  const before = foreign();
  const whole = made(one);
  let slowest = 0;

  for (const harm of harms(names)) {
    const [count, began] = [repairs.length, performance.now()];
    netns.run('sh', '-c', harm);
    // The programs that look afterwards keep this process, and the router in it, from going on.
    await until(`something is repaired after: ${harm}`, () => repairs.length > count);
    let now = '';
    const isWhole = () => {
      try {
        now = made(one);
      } catch (error) {
        // There is no device to show anything of.
        now = String(error);
      }
      return now === whole;
    };
    await until(`all is as it was after: ${harm}`, isWhole).catch(() => assert.equal(now, whole, harm));
    slowest = Math.max(slowest, (repairs.at(-1) ?? began) - began);
    assert.deepEqual(foreign(), before, harm);
  }
  t.diagnostic(`the slowest repair took ${Math.round(slowest)} ms`);
  for (const address of pods[1].addresses)
    await until('they reach each other', () => pods[0].netns.pings(address));
  await until('nothing is told any more', () => one.router.status().problems.length === 0);
});

test('a VXLAN of somebody else with the same VNI and port is told of, and left alone', async () => {
  await using cluster = new TestCluster();
  await cluster.pool('v4', '10.244.0.0/16', { encapsulation: 'always' });
  const segment = cluster.segment();
  const one = await cluster.node('n1', segment, ['192.0.2.1/24'], {
    prepare: (netns) =>
      netns.run('ip link add theirs type vxlan id 72 dstport 4789 local 192.0.2.1 nolearning'),
  });
  await until('it is told', () =>
    one.router
      .status()
      .problems.some(
        ({ subject, reason }) =>
          subject === 'link heddle-vxlan' && /VNI 72 on UDP port 4789 is in use by link theirs/.test(reason),
      ),
  );
  assert.match(one.netns.run('ip -o link show theirs'), /theirs/);
  one.netns.run('ip link delete theirs');
  await until('it is made', () => one.router.status().problems.length === 0);
  assert.match(one.netns.run('ip -o link show heddle-vxlan'), /mtu 1450/);
});

test('where it must, a VXLAN device leaves no checksums to an offload, and keeps to it', async () => {
  await using cluster = new TestCluster();
  await cluster.pool('v4', '10.244.0.0/16', { encapsulation: 'always' });
  const segment = cluster.segment();
  const one = await cluster.node('n1', segment, ['192.0.2.1/24'], { router: { fillInChecksums: true } });
  const two = await cluster.node('n2', segment, ['192.0.2.2/24']);
  const pods = [await one.pod([4]), await two.pod([4])] as const;
  await until('they reach each other', () => pods[0].netns.pings(pods[1].addresses[0] ?? ''));
  assert.equal(leavesChecksums(one.netns.session, 'heddle-vxlan'), false);
  assert.equal(leavesChecksums(two.netns.session, 'heddle-vxlan'), true);
  one.netns.run('ip link delete heddle-vxlan');
  await until('they reach each other', () => pods[0].netns.pings(pods[1].addresses[0] ?? ''));
  await one.router.resync();
  assert.equal(leavesChecksums(one.netns.session, 'heddle-vxlan'), false);
});

test('a link of our name that is not ours is told of, and left alone', async () => {
  await using cluster = new TestCluster();
  await cluster.pool('v4', '10.244.0.0/16', { encapsulation: 'always' });
  const segment = cluster.segment();
  const one = await cluster.node('n1', segment, ['192.0.2.1/24'], {
    prepare: (netns) => netns.run('ip link add heddle-vxlan type bridge'),
  });
  await until('it is told', () =>
    one.router
      .status()
      .problems.some(({ reason }) => /a link of this name is there, and is not Heddle's/.test(reason)),
  );
  assert.match(one.netns.run('ip -d -o link show heddle-vxlan'), /bridge/);
});

test('an underlay that changes is followed: the address, and the MTU', async () => {
  await using both = await pair();
  const { one, two, pods } = both;
  two.netns.run('ip address delete 192.0.2.2/24 dev eth0');
  two.netns.run('ip address add 192.0.2.22/24 dev eth0');
  for (const address of pods[1].addresses)
    await until('they reach each other', () => pods[0].netns.pings(address));
  await until('the record says so', () =>
    String(one.router.status().peers[0]?.underlay).includes('192.0.2.22/24'),
  );
  await until('the kernel follows', () =>
    /dst 192\.0\.2\.22/.test(one.netns.run('bridge fdb show dev heddle-vxlan')),
  );

  one.netns.run('ip link set eth0 mtu 1400');
  await until('the device follows', () => /mtu 1350/.test(one.netns.run('ip -o link show heddle-vxlan')));
  assert.equal(one.router.podMtu('v4'), 1350);
  await until('the other side sends no more than that', () =>
    /mtu 1350/.test(two.netns.run('ip route show proto 72 dev heddle-vxlan')),
  );
  for (const address of pods[1].addresses)
    await until('they reach each other', () => pods[0].netns.pings(address));
});

test('a node that is missing keeps its routes, whoever starts anew meanwhile; one that was removed does not', async () => {
  await using cluster = new TestCluster();
  await cluster.pool('v4', '10.244.0.0/16', { encapsulation: 'always' });
  const segment = cluster.segment();
  const more = { join: { leaseSeconds: 5 } };
  const one = await cluster.node('n1', segment, ['192.0.2.1/24'], more);
  const two = await cluster.node('n2', segment, ['192.0.2.2/24'], more);
  const pods = [await one.pod([4]), await two.pod([4])] as const;
  const [address = ''] = pods[1].addresses;
  await until('they reach each other', () => pods[0].netns.pings(address));

  await until(
    'they have told their tunnel addresses',
    () => hasTunnelsOf(one, two) && hasTunnelsOf(two, one),
  );
  const routes = () => one.netns.run('ip route show proto 72 dev heddle-vxlan');
  const whole = routes();
  let isWhole = true;
  cluster.isAway = true;
  await until('both notice', () => [one, two].every(({ membership }) => membership.state.kind === 'away'));
  await until('the leases have run out', () => cluster.database.list('/heddle/nodes/').entries.length === 0);
  cluster.isAway = false;
  await until('both are in again', () => {
    isWhole &&= routes() === whole;
    return [one, two].every(({ membership }) => membership.state.kind === 'joined');
  });
  assert.ok(isWhole && routes() === whole);
  await until('they still reach each other', () => pods[0].netns.pings(address));

  await two.membership[Symbol.asyncDispose]();
  await until('it is missed', () => one.router.status().peers[0]?.missing === true);
  await one.router.resync();
  await one.restart();
  await one.router.resync();
  assert.equal(routes(), whole);
  await until('they still reach each other', () => pods[0].netns.pings(address));
  await removeGoneNode(one.membership.member, 'n2');
  await until('its routes are withdrawn', () => routes() === '');
});
