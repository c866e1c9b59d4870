/** A Linux machine in a cluster that runs nothing of Heddle: what it is stands in the store, the rest is `ip` and `bridge`. */
import { allocateAddresses, type Member } from '@heddle/ipam/blocks';
import { Mac, Prefix } from '@heddle/netaddr';
import type { TestNetns } from '@heddle/netlink/testing';
import { memberCodec, NODE_KEYS, nodeCodec } from '@heddle/routing';
import type { TestCluster, TestPod } from '@heddle/routing/testing';
import { addPeer, makeDevice, type NodePlan, wirePod } from './hand-made.ts';

/** What the operator knows. */
export interface PeerOptions {
  /** The machine's, between nodes, with the prefix of the segment. */
  readonly address: string;
  /** The nodes that it is told of. */
  readonly others: readonly NodePlan[];
  /** Of its device, in bytes. */
  readonly mtu: number;
}

const NAME = 'by-hand';
const MAC = '02:00:5e:00:53:03';
const DEVICE = 'vx72';

/** See the file's comment. */
export class HandMadePeer {
  readonly pod: TestPod;

  private constructor(pod: TestPod) {
    this.pod = pod;
  }

  /** Sets the machine up and enters it in the store; the nodes of the cluster learn of it from there alone. */
  static async make(
    cluster: TestCluster,
    netns: TestNetns,
    { address, others, mtu }: PeerOptions,
  ): Promise<HandMadePeer> {
    const { store } = cluster;
    const member: Member = { store, node: NAME, now: Date.now };
    const take = async (handle: string) =>
      (await allocateAddresses(member, { handle, families: [4, 6] })).map(({ address: { addr } }) => addr);
    const tunnel = await take(`tunnel.${NAME}`);
    const addresses = (await take('pod')).map((each) => `${each}`);
    const underlay = Prefix.parse(address);
    const own = { host: `${underlay.addr}`, mac: MAC, tunnel: tunnel.map((each) => `${each}`), blocks: [] };
    makeDevice(netns, { own, device: DEVICE, mtu });
    for (const other of others) addPeer(netns, DEVICE, other);
    const pod = cluster.netns();
    wirePod(netns, pod, addresses, mtu);

    const lease = await store.grantLease(3600);
    const record = {
      ...{ name: NAME, instance: NAME, underlay: [underlay], mtu: 1500, labels: {} },
      ...{ tunnel: { mac: Mac.parse(MAC), addresses: tunnel }, version: 'none', since: Date.now() },
    };
    const joined = { name: NAME, instance: NAME, joined: Date.now() };
    await store.commit({
      changes: [
        { put: NODE_KEYS.node(NAME), value: nodeCodec.encode(record), lease: lease.id },
        { put: NODE_KEYS.member(NAME), value: memberCodec.encode(joined) },
      ],
    });
    return new HandMadePeer({ netns: pod, addresses });
  }
}
