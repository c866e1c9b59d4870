/** Pods of a node reach those of a machine under Flannel's own daemon, and the other way round, by VXLAN of both makings. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { TestCluster, type TestNode, type TestPod } from '@heddle/routing/testing';
import { Capture } from '../support/capture.ts';
import { missing, missingFlanneld } from '../support/programs.ts';
import { assertWrapped, reaches, type WrappedWay } from './echoes.ts';
import { Flanneld } from './flanneld.ts';
import { planOf } from './hand-made.ts';

const NETWORKS = { 4: '10.244.0.0/16', 6: 'fd00:10:244::/48' } as const;
const HERE = { 4: '192.0.2.1', 6: 'fd00::1' } as const;
const THERE = { 4: '192.0.2.2', 6: 'fd00::2' } as const;

/** What the daemon itself ends for want of. */
const BRIDGE_FILTER = '/proc/sys/net/bridge/bridge-nf-call-iptables';
const skip =
  missingFlanneld() ||
  missing('etcd', 'iptables') ||
  (!existsSync(BRIDGE_FILTER) && 'this kernel has no br_netfilter, which flanneld demands');

async function pools(cluster: TestCluster): Promise<void> {
  const more = { encapsulation: 'always', natOutgoing: false } as const;
  await cluster.pool('v4', NETWORKS[4], more);
  await cluster.pool('v6', NETWORKS[6], more);
}

const macOf = ({ membership }: TestNode) => `${membership.record.tunnel.mac}`;

/** Both ways of a ping, with packets as large as pods may send, and as they are on the wire. */
async function reachEachOther(
  capture: Capture,
  [here, there]: readonly [TestPod, TestPod],
  index: number,
  {
    there: to,
    back,
  }: {
    readonly there: Pick<WrappedWay, 'hosts' | 'macs'>;
    readonly back: Pick<WrappedWay, 'hosts' | 'macs'>;
  },
): Promise<void> {
  const [one = '', two = ''] = [here.addresses[index], there.addresses[index]];
  const size = `${1430 - (one.includes(':') ? 48 : 28)}`;
  for (const [from, address] of [
    [here, two],
    [there, one],
  ] as const) {
    capture.take();
    await reaches(from, [address], '-M', 'do', '-s', size);
    const frames = capture.take();
    assertWrapped(frames, { from: one, to: two, ...to });
    assertWrapped(frames, { from: two, to: one, ...back });
  }
}

test('flanneld and a node carry each other’s packets, over IPv4', { skip }, async () => {
  await using cluster = new TestCluster();
  await pools(cluster);
  const segment = cluster.segment();
  const node = await cluster.node('n1', segment, [`${HERE[4]}/24`]);
  const netns = cluster.netns();
  cluster.plug(netns, segment, 'eth0', [`${THERE[4]}/24`]);
  await using flanneld = await Flanneld.make(cluster, netns, {
    underlay: [`${THERE[4]}/24`],
    networks: NETWORKS,
  });
  flanneld.tell(planOf(node, HERE[4]), [HERE[4]]);
  const pods = [await node.pod(), flanneld.pod()] as const;
  assert.equal(pods[1].addresses.length, 1);
  using capture = new Capture(segment.handle);
  const macs = [macOf(node), flanneld.macOf(4)] as const;
  await reachEachOther(capture, pods, 0, {
    there: { hosts: [HERE[4], THERE[4]], macs },
    back: { hosts: [THERE[4], HERE[4]], macs: [macs[1], macs[0]] },
  });
  // The node itself, too, has an address that Flannel's pods can answer.
  await reaches(node, pods[1].addresses);
});

test('flanneld and a node carry packets of both families, each by the device that it has for them', {
  skip,
}, async () => {
  await using cluster = new TestCluster();
  await pools(cluster);
  const segment = cluster.segment();
  const node = await cluster.node('n1', segment, [`${HERE[4]}/24`, `${HERE[6]}/64`]);
  // Flannel sends what is IPv6 over IPv6, and for that a node has a device where another one has nothing else.
  await cluster.node('n2', segment, ['fd00::3/64']);
  const netns = cluster.netns();
  const underlay = [`${THERE[4]}/24`, `${THERE[6]}/64`];
  cluster.plug(netns, segment, 'eth0', underlay);
  await using flanneld = await Flanneld.make(cluster, netns, { underlay, networks: NETWORKS });
  flanneld.tell(planOf(node, HERE[4]), [HERE[4], HERE[6]]);
  const pods = [await node.pod(), flanneld.pod()] as const;
  assert.equal(pods[1].addresses.length, 2);
  using capture = new Capture(segment.handle);
  for (const [index, family] of ([4, 6] as const).entries()) {
    await reachEachOther(capture, pods, index, {
      there: { hosts: [HERE[4], THERE[4]], macs: [macOf(node), flanneld.macOf(4)] },
      back: { hosts: [THERE[family], HERE[family]], macs: [flanneld.macOf(family), macOf(node)] },
    });
  }
  await reaches(node, pods[1].addresses);
});
