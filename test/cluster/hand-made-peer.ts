/** A Linux machine in a cluster that runs nothing of Heddle: what it is stands in the store, the rest is `ip` and `bridge`. */
import { Prefix } from '@heddle/netaddr';
import type { TestNetns } from '@heddle/netlink/testing';
import type { TestCluster, TestPod } from '@heddle/routing/testing';
import { enterNode, takeAddresses } from './foreign-node.ts';
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
    const tunnel = await takeAddresses(store, NAME, `tunnel.${NAME}`);
    const addresses = (await takeAddresses(store, NAME, 'pod')).map((each) => `${each}`);
    const underlay = Prefix.parse(address);
    const own = { host: `${underlay.addr}`, mac: MAC, tunnel: tunnel.map((each) => `${each}`), blocks: [] };
    makeDevice(netns, { own, device: DEVICE, mtu });
    for (const other of others) addPeer(netns, DEVICE, other);
    const pod = cluster.netns();
    wirePod(netns, pod, addresses, mtu);
    await enterNode(store, { name: NAME, underlay: [underlay], mac: MAC, tunnel });
    return new HandMadePeer({ netns: pod, addresses });
  }
}
