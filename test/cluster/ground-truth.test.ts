/**
 * What the network of a cluster is on the wire and in the kernel, held to what others make of the same: captures, the
 * same network set up by hand with `ip` and `bridge`, and a peer that knows nothing of Heddle.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasTunnelsOf, TestCluster, type TestNode } from '@heddle/routing/testing';
import { Capture } from '../support/capture.ts';
import { until } from '../support/until.ts';
import { assertWrapped, carrying, reaches, type WrappedWay } from './echoes.ts';
import { HandMadeNode, linesOf, linesWithoutMarks, offloadsOf, planOf } from './hand-made.ts';
import { HandMadePeer } from './hand-made-peer.ts';

/** Underlays: addresses of nodes 1, 2 and 3, the device, and what pods may send at 1500 bytes below. */
const UNDERLAYS = [
  { over: 'IPv4', prefix: ['192.0.2.', '/24'], device: 'heddle-vxlan', mtu: 1450 },
  { over: 'IPv6', prefix: ['fd00::', '/64'], device: 'heddle-vxlan6', mtu: 1430 },
] as const;
type UnderlayCase = (typeof UNDERLAYS)[number];

const hostOf = ({ prefix: [network] }: UnderlayCase, node: number) => `${network}${node}`;
const addressOf = (underlay: UnderlayCase, node: number) => `${hostOf(underlay, node)}${underlay.prefix[1]}`;

async function pools(cluster: TestCluster, encapsulation: 'always' | 'never'): Promise<void> {
  const more = { encapsulation, natOutgoing: false } as const;
  await cluster.pool('v4', '10.244.0.0/16', more);
  await cluster.pool('v6', 'fd00:10:244::/48', more);
}

const macOf = ({ membership }: TestNode) => `${membership.record.tunnel.mac}`;

async function twoNodes(cluster: TestCluster, underlay: UnderlayCase) {
  const segment = cluster.segment();
  const one = await cluster.node('n1', segment, [addressOf(underlay, 1)]);
  const two = await cluster.node('n2', segment, [addressOf(underlay, 2)]);
  const pods = [await one.pod(), await two.pod()] as const;
  await reaches(pods[0], pods[1].addresses);
  await until(
    'their tunnel addresses',
    () => (hasTunnelsOf(one, two) && hasTunnelsOf(two, one)) || undefined,
  );
  return { segment, one, two, pods };
}

for (const underlay of UNDERLAYS) {
  test(`on the wire, wrapped over ${underlay.over}: UDP between the nodes, and in it the pod’s packet`, async () => {
    await using cluster = new TestCluster();
    await pools(cluster, 'always');
    const { segment, one, two, pods } = await twoNodes(cluster, underlay);
    using capture = new Capture(segment.handle);
    for (const [index, to = ''] of pods[1].addresses.entries()) {
      const from = pods[0].addresses[index] ?? '';
      await reaches(pods[0], [to], '-s', '1000');
      const frames = capture.take();
      const hosts = [hostOf(underlay, 1), hostOf(underlay, 2)] as const;
      const macs = [macOf(one), macOf(two)] as const;
      const ways: readonly WrappedWay[] = [
        { from, to, hosts, macs },
        { from: to, to: from, hosts: [hosts[1], hosts[0]], macs: [macs[1], macs[0]] },
      ];
      for (const way of ways) {
        for (const { outer, inner } of assertWrapped(frames, way)) {
          const length = 1000 + 8 + (to.includes(':') ? 40 : 20);
          assert.equal(inner.length, length);
          assert.equal(outer.length - length, 1500 - underlay.mtu);
        }
      }
    }
  });

  test(`in the kernel, over ${underlay.over}: as the same network set up by hand`, async () => {
    await using cluster = new TestCluster();
    await pools(cluster, 'always');
    const { one, two } = await twoNodes(cluster, underlay);
    const segment = cluster.segment();
    const hosts = [hostOf(underlay, 1), hostOf(underlay, 2)] as const;
    const plans = [planOf(one, hosts[0]), planOf(two, hosts[1])] as const;
    const made: HandMadeNode[] = [];
    for (const [own, peer] of [plans, [plans[1], plans[0]]] as const) {
      const netns = cluster.netns();
      cluster.plug(netns, segment, 'eth0', [`${own.host}${underlay.prefix[1]}`]);
      made.push(new HandMadeNode(netns, { own, peer, device: underlay.device, mtu: underlay.mtu }));
    }
    // What is compared with is a network that works.
    const [here, there] = made.map((node) => node.pod(cluster.netns()));
    assert.ok(here !== undefined && there !== undefined);
    await reaches(here, there.addresses);

    const nodes: readonly TestNode[] = [one, two];
    for (const [index, { netns, name }] of nodes.entries()) {
      const byHand = made[index]?.netns;
      assert.ok(byHand !== undefined);
      const expected = linesOf(byHand, underlay.device);
      // What a tunnel address brings comes one after the other.
      await until(`${name} to be as by hand`, () => {
        for (const [command, lines] of Object.entries(linesWithoutMarks(netns, underlay.device))) {
          assert.ok(lines.length > 0, `${name}: ${command} says something`);
          assert.deepEqual(lines, expected[command], `${name}: ${command}`);
        }
        return true;
      });
      const offloads = offloadsOf(netns, underlay.device);
      assert.ok(offloads.some((byte) => byte !== 0));
      assert.deepEqual(offloads, offloadsOf(byHand, underlay.device), name);
    }
  });

  test(`a Linux machine without Heddle is a node, over ${underlay.over}`, async () => {
    await using cluster = new TestCluster();
    await pools(cluster, 'always');
    const { segment, one, two, pods } = await twoNodes(cluster, underlay);
    const netns = cluster.netns();
    cluster.plug(netns, segment, 'eth0', [addressOf(underlay, 3)]);
    const peer = await HandMadePeer.make(cluster, netns, {
      address: addressOf(underlay, 3),
      others: [planOf(one, hostOf(underlay, 1)), planOf(two, hostOf(underlay, 2))],
      mtu: underlay.mtu,
    });
    for (const pod of pods) {
      await reaches(pod, peer.pod.addresses);
      await reaches(peer.pod, pod.addresses);
    }
    // The node itself, too, has an address that the peer's pods can answer.
    await reaches(one, peer.pod.addresses);
    for (const address of peer.pod.addresses) {
      const headers = address.includes(':') ? 48 : 28;
      await reaches(pods[0], [address], '-M', 'do', '-s', `${underlay.mtu - headers}`);
    }
  });
}

test('on the wire, by direct routes: the pod’s packet as it is', async () => {
  await using cluster = new TestCluster();
  await pools(cluster, 'never');
  const segment = cluster.segment();
  const one = await cluster.node('n1', segment, ['192.0.2.1/24', 'fd00::1/64']);
  const two = await cluster.node('n2', segment, ['192.0.2.2/24', 'fd00::2/64']);
  const pods = [await one.pod(), await two.pod()] as const;
  await reaches(pods[0], pods[1].addresses);
  const macs = [one, two].map(
    ({ netns }) => netns.json<{ address: string }>('ip', '-j', 'link', 'show', 'eth0')[0]?.address,
  );
  using capture = new Capture(segment.handle);
  for (const [index, to = ''] of pods[1].addresses.entries()) {
    const from = pods[0].addresses[index] ?? '';
    await reaches(pods[0], [to]);
    const found = carrying(capture.take(), from, to);
    assert.ok(found.length > 0, `${from} to ${to} was seen`);
    for (const frame of found) {
      assert.equal(frame.packet.vxlan, undefined);
      assert.deepEqual([`${frame.from}`, `${frame.to}`], macs);
      assert.equal(frame.packet.ttl, 63);
    }
  }
});
