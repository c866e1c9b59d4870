import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PoolConfig } from '@heddle/ipam/blocks';
import { startRouter } from './router.ts';
import { hasTunnelsOf, TestCluster, type TestNode, type TestPod } from './testing/test-cluster.ts';
import { until } from './testing/until.ts';
import { withdrawRouting } from './withdraw.ts';

/** Waits until every pod reaches every other one by all addresses. */
async function allReach(pods: readonly TestPod[]): Promise<void> {
  for (const from of pods) {
    for (const to of pods) {
      if (from === to) continue;
      for (const address of to.addresses) {
        await until(`${from.addresses} reaches ${address}`, () => from.netns.pings(address));
      }
    }
  }
}

async function settled(...nodes: readonly TestNode[]): Promise<void> {
  for (const { router } of nodes) {
    await until('all is as desired', async () => {
      await router.resync();
      return router.status().problems.length === 0;
    });
  }
}

const DUAL = { encapsulation: 'always', natOutgoing: false } as const;

async function pools(cluster: TestCluster, more: Partial<PoolConfig>): Promise<void> {
  await cluster.pool('v4', '10.244.0.0/16', more);
  await cluster.pool('v6', 'fd00:10:244::/48', more);
}

/** Whether an echo request of this size, with its headers, comes back without being cut. */
function pingsWhole(pod: TestPod, address: string, size: number): boolean {
  const headers = address.includes(':') ? 48 : 28;
  return pod.netns.pings(address, '-M', 'do', '-s', `${size - headers}`);
}

test('VXLAN: pods on two nodes reach each other over both families, by as little as can be', async () => {
  await using cluster = new TestCluster();
  await pools(cluster, DUAL);
  const segment = cluster.segment();
  const one = await cluster.node('n1', segment, ['192.0.2.1/24', 'fd00::1/64']);
  const two = await cluster.node('n2', segment, ['192.0.2.2/24', 'fd00::2/64']);
  const pods = [await one.pod(), await two.pod()] as const;
  await allReach(pods);
  await until(
    'they have told their tunnel addresses',
    () => hasTunnelsOf(one, two) && hasTunnelsOf(two, one),
  );
  await settled(one, two);

  const { mac, addresses } = two.membership.record.tunnel;
  const [device] = one.netns.json<Device>('ip', '-j', '-d', 'link', 'show', 'heddle-vxlan');
  assert.equal(device?.mtu, 1450);
  assert.equal(device?.group, '72');
  const { id, local, port, learning } = device?.linkinfo.info_data ?? {};
  assert.deepEqual(
    { id, local, port, learning },
    { id: 72, local: '192.0.2.1', port: 4789, learning: false },
  );
  const fdb = one.netns.json('bridge', '-j', 'fdb', 'show', 'dev', 'heddle-vxlan');
  assert.deepEqual(
    fdb.map(({ mac, dst, state }) => [mac, dst, state]),
    [[`${mac}`, '192.0.2.2', 'permanent']],
  );
  const neighbours = one.netns.json('ip', '-j', 'neigh', 'show', 'dev', 'heddle-vxlan', 'nud', 'permanent');
  assert.deepEqual(
    neighbours.map(({ dst, lladdr }) => `${dst} ${lladdr}`).sort(),
    addresses.map((address) => `${address} ${mac}`).sort(),
  );
  const { blocks = [] } = one.router.status().peers[0] ?? {};
  for (const [family, flag] of [
    [4, '-4'],
    [6, '-6'],
  ] as const) {
    const routes = one.netns.json('ip', flag, '-j', 'route', 'show', 'proto', '72', 'dev', 'heddle-vxlan');
    assert.deepEqual(
      routes.map(({ dst, gateway }) => `${dst} via ${gateway}`),
      blocks
        .filter(({ cidr }) => cidr.family === family)
        .map(({ cidr }) => `${cidr} via ${addresses.find((address) => address.family === family)}`),
    );
  }

  // What the node itself sends has a source that comes back.
  const [pod4 = '', pod6 = ''] = pods[1].addresses;
  for (const address of [pod4, pod6])
    await until(`the node reaches ${address}`, () => one.netns.pings(address));
  // The whole of the path, and not a byte more.
  for (const address of [pod4, pod6]) {
    await until(`1450 bytes reach ${address}`, () => pingsWhole(pods[0], address, 1450));
    assert.ok(!pingsWhole(pods[0], address, 1451), `1451 bytes to ${address}`);
  }
  assert.equal(one.router.podMtu('v4'), 1450);

  // What nobody has does not leave the node.
  const block = one.router.status().blocks.find(({ family }) => family === 4);
  assert.throws(() => one.netns.run(`ip route get ${block?.last}`), /Invalid argument/);
});

for (const mtu of [1400, 9000]) {
  test(`an underlay with an MTU of ${mtu} carries as much as fits, whichever way`, async () => {
    await using cluster = new TestCluster();
    await cluster.pool('v4', '10.244.0.0/16', { encapsulation: 'always' });
    await cluster.pool('v6', 'fd00:10:244::/48', { encapsulation: 'never' });
    const segment = cluster.segment(mtu);
    const one = await cluster.node('n1', segment, ['192.0.2.1/24', 'fd00::1/64'], { mtu });
    const two = await cluster.node('n2', segment, ['192.0.2.2/24', 'fd00::2/64'], { mtu });
    assert.equal(one.router.podMtu('v6'), mtu);
    assert.equal(one.router.podMtu('v4', 'v6'), mtu - 50);
    const pods = [await one.pod(), await two.pod()] as const;
    await allReach(pods);
    // A pod has the MTU of the narrower of its pools; the path of the other one is as wide as the underlay.
    const [v4 = '', v6 = ''] = pods[1].addresses;
    for (const address of [v4, v6])
      await until(`${mtu - 50} bytes reach ${address}`, () => pingsWhole(pods[0], address, mtu - 50));
    assert.ok(!pingsWhole(pods[0], v4, mtu - 49));
  });
}

test('direct routes on one segment; with cross-subnet, an overlay to another one', async () => {
  await using cluster = new TestCluster();
  await pools(cluster, { encapsulation: 'cross-subnet' });
  const [left, right] = [cluster.segment(), cluster.segment()];
  const between = cluster.netns();
  cluster.plug(between, left, 'left', ['192.0.2.254/24', 'fd00:0:0:1::fe/64']);
  cluster.plug(between, right, 'right', ['198.51.100.254/24', 'fd00:0:0:2::fe/64']);
  between.run('sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1');
  const by = (four: string, six: string) => ({ routes: [`default via ${four}`, `default via ${six}`] });
  const leftBy = by('192.0.2.254', 'fd00:0:0:1::fe');
  const one = await cluster.node('n1', left, ['192.0.2.1/24', 'fd00:0:0:1::1/64'], leftBy);
  const two = await cluster.node('n2', left, ['192.0.2.2/24', 'fd00:0:0:1::2/64'], leftBy);
  const far = by('198.51.100.254', 'fd00:0:0:2::fe');
  const three = await cluster.node('n3', right, ['198.51.100.3/24', 'fd00:0:0:2::3/64'], far);
  const pods = [await one.pod(), await two.pod(), await three.pod()];
  await allReach(pods);
  await settled(one, two, three);
  const peers = one.router
    .status()
    .peers.map(({ name, blocks }) => [name, blocks.map(({ path }) => path.kind)]);
  assert.deepEqual(peers, [
    ['n2', ['direct', 'direct']],
    ['n3', ['overlay', 'overlay']],
  ]);
  assert.match(one.netns.run(`ip route get ${pods[1]?.addresses[0]}`), /via 192\.0\.2\.2 dev eth0/);
  assert.match(one.netns.run(`ip route get ${pods[2]?.addresses[0]}`), /dev heddle-vxlan/);
});

test('an underlay of IPv6 alone carries both families, wrapped or not', async () => {
  for (const encapsulation of ['always', 'never'] as const) {
    await using cluster = new TestCluster();
    await pools(cluster, { encapsulation });
    const segment = cluster.segment();
    const one = await cluster.node('n1', segment, ['fd00::1/64']);
    const two = await cluster.node('n2', segment, ['fd00::2/64']);
    await allReach([await one.pod(), await two.pod()]);
    await settled(one, two);
    assert.equal(one.router.podMtu('v4', 'v6'), encapsulation === 'always' ? 1430 : 1500);
  }
});

test('what pods send out of the cluster has the address of the node, and nothing else has', async () => {
  await using cluster = new TestCluster();
  await pools(cluster, { encapsulation: 'always', natOutgoing: true });
  const segment = cluster.segment();
  const one = await cluster.node('n1', segment, ['192.0.2.1/24', 'fd00::1/64']);
  const two = await cluster.node('n2', segment, ['192.0.2.2/24', 'fd00::2/64']);
  const outside = cluster.netns();
  // It has no way back to pods: only to nodes.
  cluster.plug(outside, segment, 'eth0', ['192.0.2.99/24', 'fd00::99/64']);
  const pods = [await one.pod(), await two.pod()] as const;
  await allReach(pods);
  for (const address of ['192.0.2.99', 'fd00::99']) {
    await until(`${address} answers`, () => pods[0].netns.pings(address));
  }
  await settled(one, two);
  assert.equal(one.netns.ruleset.match(/masquerade/g)?.length, 2);
});

test('a router that stops leaves everything; one that starts changes nothing', async () => {
  await using cluster = new TestCluster();
  await pools(cluster, { encapsulation: 'always', natOutgoing: true });
  const segment = cluster.segment();
  const one = await cluster.node('n1', segment, ['192.0.2.1/24', 'fd00::1/64']);
  const two = await cluster.node('n2', segment, ['192.0.2.2/24', 'fd00::2/64']);
  const pods = [await one.pod(), await two.pod()] as const;
  await allReach(pods);
  await settled(one, two);
  const { messages, stop } = listen(one);
  await one.restart();
  await settled(one);
  stop();
  assert.deepEqual(messages, []);
  await allReach(pods);

  // While the store is away, nothing changes either, even for a router that starts then.
  cluster.isAway = true;
  const again = listen(one);
  await one.router[Symbol.asyncDispose]();
  one.router = await startRouter({
    membership: one.membership,
    store: cluster.store,
    session: one.netns.session,
  });
  await until('it is told', () => one.router.status().storeAway !== undefined);
  await until('they still reach each other', () => pods[0].netns.pings(pods[1].addresses[0] ?? ''));
  again.stop();
  assert.deepEqual(again.messages, []);
});

test('all of it goes when it is withdrawn', async () => {
  await using cluster = new TestCluster();
  await pools(cluster, { encapsulation: 'cross-subnet', natOutgoing: true });
  const segment = cluster.segment();
  const one = await cluster.node('n1', segment, ['192.0.2.1/24', 'fd00::1/64']);
  const two = await cluster.node('n2', segment, ['192.0.2.2/24', 'fd00::2/64']);
  one.netns.run('ip route add 203.0.113.0/24 via 192.0.2.9 proto 99 metric 72');
  await allReach([await one.pod(), await two.pod()]);
  await one.router[Symbol.asyncDispose]();
  await withdrawRouting(one.netns.session);
  assert.equal(one.netns.run('ip -o link show group 72'), '');
  for (const family of ['-4', '-6']) {
    const ours = one.netns.run(`ip ${family} route show proto 72`).split('\n');
    // Routes to the node's own pods are their plugins'.
    assert.deepEqual(
      ours.filter((line) => line !== '' && !/dev pod/.test(line)),
      [],
    );
  }
  assert.doesNotMatch(one.netns.ruleset, /cluster|HEDDLE/);
  assert.match(one.netns.run('ip route show'), /203\.0\.113\.0\/24/);
});

/** What the kernel tells of changes to what routing makes. */
function listen({ netns }: TestNode): { readonly messages: readonly string[]; readonly stop: () => void } {
  const messages: string[] = [];
  const subscription = netns.session.subscribe({
    groups: ['link', 'address4', 'address6', 'route4', 'route6', 'neighbour', 'nft'],
    onEvent(event) {
      const { kind, action } = event;
      const isDynamic = kind === 'neighbour' && event.neighbour.state !== 0x80;
      if (!isDynamic) messages.push(`${action} ${kind} ${JSON.stringify(event)}`);
    },
    onResync: () => messages.push('lost'),
  });
  return { messages, stop: () => subscription[Symbol.dispose]() };
}

interface Device {
  readonly mtu: number;
  readonly group: string;
  readonly linkinfo: { readonly info_data: Readonly<Record<string, unknown>> };
}
