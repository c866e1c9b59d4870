/** Nodes as namespaces of the real kernel, with pods, on a store in memory. */
import { allocateAddresses, type PoolConfig, putPool } from '@heddle/ipam/blocks';
import { Prefix } from '@heddle/netaddr';
import { TestNetns } from '@heddle/netlink/testing';
import { type Store, StoreError } from '@heddle/store';
import { MemoryDatabase, openMemory } from '@heddle/store/testing';
import { joinCluster } from '../cluster/join.ts';
import type { JoinOptions, Membership } from '../cluster/membership.ts';
import { type Router, type RouterOptions, startRouter } from '../router.ts';

/** A pod: a namespace, and its addresses. */
export interface TestPod {
  readonly netns: TestNetns;
  readonly addresses: readonly string[];
}

/** One node. */
export interface TestNode {
  readonly name: string;
  readonly netns: TestNetns;
  readonly membership: Membership;
  router: Router;
  /** Stops and starts the router, as an upgrade does. */
  restart(): Promise<void>;
  /** Makes a pod with an address of each family that there are pools of, wired by hand. */
  pod(families?: readonly (4 | 6)[]): Promise<TestPod>;
}

/**
 * Whether a node's kernel has its own tunnel addresses and reaches those of another node by a neighbour, which IP-in-IP has
 * not. Until these have been told, others take their place, by which pods reach each other as well.
 */
export function hasTunnelsOf(node: TestNode, peer: TestNode): boolean {
  const [own = [], others = []] = [node, peer].map(({ membership }) => membership.record.tunnel.addresses);
  if (own.length === 0 || others.length === 0) return false;
  const shown = node.netns.run(
    'sh',
    '-c',
    'ip -o address; ip -4 neigh; ip -6 neigh; ip -o link show type ipip',
  );
  const words = new Set(shown.split(/[\s/@]+/));
  const reaches = words.has('heddle-ipip') || words.has(`${others[0]}`);
  return reaches && own.every((each) => words.has(`${each}`));
}

/** See the file's comment. Everything goes with its disposal. */
export class TestCluster implements AsyncDisposable {
  readonly database = new MemoryDatabase();
  readonly store: Store;
  /** Takes the store away from everybody. */
  isAway = false;
  readonly #stack = new AsyncDisposableStack();

  constructor() {
    this.store = openMemory(this.database, async (_call, run) => {
      await undefined;
      if (this.isAway) throw new StoreError('STORE_UNAVAILABLE', 'the store is away');
      return run();
    });
  }

  async pool(name: string, cidr: string, more: Partial<PoolConfig> = {}): Promise<void> {
    await putPool(this.store, { name, cidr: Prefix.parse(cidr), ...more });
  }

  /** A namespace that goes with the cluster, in which duplicate addresses are not looked for. */
  netns(): TestNetns {
    const netns = this.#stack.use(new TestNetns('threaded'));
    netns.skipAddressDetection();
    netns.run('ip link set lo up');
    return netns;
  }

  /** A switch that nodes are joined to by `eth0`. */
  segment(mtu = 1500): TestNetns {
    const netns = this.netns();
    // Without snooping neighbour discovery needs no querier.
    netns.run('ip link add br0 type bridge mcast_snooping 0');
    netns.run(`ip link set br0 mtu ${mtu} up`);
    return netns;
  }

  /** Joins a namespace to a segment. */
  plug(netns: TestNetns, segment: TestNetns, link: string, addresses: readonly string[], mtu = 1500): void {
    const port = `p${++this.#ports}`;
    netns.join(segment, [link, port]);
    netns.run(`ip link set ${link} mtu ${mtu}`);
    segment.run(`ip link set ${port} mtu ${mtu} master br0`);
    for (const address of addresses) netns.run(`ip address add ${address} dev ${link}${atOnce(address)}`);
  }

  /** A node on a segment. */
  async node(
    name: string,
    segment: TestNetns,
    addresses: readonly string[],
    more: {
      readonly mtu?: number;
      readonly routes?: readonly string[];
      /** Done before it joins. */
      readonly prepare?: (netns: TestNetns) => void;
      readonly join?: Partial<JoinOptions>;
      readonly router?: Partial<RouterOptions>;
    } = {},
  ): Promise<TestNode> {
    const netns = this.netns();
    this.plug(netns, segment, 'eth0', addresses, more.mtu);
    for (const route of more.routes ?? []) netns.run(`ip route add ${route}`);
    more.prepare?.(netns);
    const { session } = netns;
    const { store } = this;
    const membership = this.#stack.use(
      await joinCluster({ ...{ store, session, name, instance: name, version: 'test' }, ...more.join }),
    );
    const start = () => startRouter({ ...{ membership, store, session }, ...more.router });
    const node: TestNode = {
      ...{ name, netns, membership, router: await start() },
      restart: async () => {
        await node.router[Symbol.asyncDispose]();
        node.router = await start();
      },
      pod: (families = [4, 6]) => this.#pod(node, families),
    };
    this.#stack.defer(() => node.router[Symbol.asyncDispose]());
    return node;
  }

  async #pod({ netns: host, membership, router }: TestNode, families: readonly (4 | 6)[]): Promise<TestPod> {
    const netns = this.netns();
    const number = ++this.#pods;
    const taken = await allocateAddresses(membership.member, { handle: `pods.${number}`, families });
    const addresses = taken.map(({ address }) => `${address.addr}`);
    const link = `pod${number}`;
    host.join(netns, [link, 'eth0']);
    const mtu = router.podMtu(...taken.map(({ pool }) => pool));
    host.run(`ip link set ${link} mtu ${mtu}`);
    netns.run(`ip link set eth0 mtu ${mtu}`);
    // The routed veth of a pod, as `heddle` makes it: the other end answers for a link-local gateway.
    host.run(`ip address add 169.254.1.1/32 dev ${link}`);
    host.run(`ip -6 address add fe80::1/64 dev ${link} nodad`);
    for (const { address } of taken) {
      netns.run(`ip address add ${address} dev eth0${atOnce(`${address}`)}`);
      host.run(`ip route add ${address} dev ${link} proto 72`);
    }
    netns.run('ip route add 169.254.1.1 dev eth0');
    netns.run('ip route add default via 169.254.1.1');
    netns.run('ip -6 route add default via fe80::1 dev eth0');
    return { netns, addresses };
  }

  #ports = 0;
  #pods = 0;

  async [Symbol.asyncDispose](): Promise<void> {
    this.isAway = false;
    await this.#stack.disposeAsync();
  }
}

/** Without detection too an address of IPv6 is tentative until the kernel has come to it: a node that joins passes it by. */
function atOnce(address: string): string {
  return address.includes(':') ? ' nodad' : '';
}
