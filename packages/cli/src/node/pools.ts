/** The pools that a cluster has from its first node on. */
import type { WrittenNodeConfig } from '@heddle/agent';
import { LINK_GROUPS, ROUTE_PROTOCOL } from '@heddle/dataplane';
import {
  blocksWithin,
  checkPools,
  inspectStore,
  type Overlay,
  type Pool,
  putPool,
  readCluster,
  resolvePool,
} from '@heddle/ipam/blocks';
import { Prefix } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import { type Store, StoreError } from '@heddle/store';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';
import type { JoinFlags, NewPoolFlags } from './flags.ts';

/** What of the flags is about pools. */
export type PoolFlags = Pick<JoinFlags, 'pool' | 'serviceCidr'> & NewPoolFlags;

/** What pods get their addresses from when nothing is said. */
const DEFAULT_POOLS: readonly Prefix[] = ['10.244.0.0/16', 'fd00:10:244::/48'].map((text) =>
  Prefix.parse(text),
);

/**
 * Makes the pools that are asked for, or the usual ones where the cluster has none; those that are there stay as they are.
 *
 * @returns the names of those that were made
 * @throws {IpamError} IPAM_POOL_INVALID when one overlaps another one, the networks of this node, or services
 */
export async function ensurePools(
  store: Store,
  session: KernelSession,
  { subnets = [], former }: Pick<WrittenNodeConfig, 'subnets' | 'former'>,
  flags: PoolFlags,
): Promise<readonly string[]> {
  const own = former === undefined ? [] : subnets.map((text) => Prefix.parse(text));
  const around = { nodes: await ownNetworks(session, own), services: flags.serviceCidr ?? [] };
  const present = await poolsIn(store);
  const pools = newPools(present, flags);
  // All of them before the first one is made.
  checkPools([...present, ...pools], around);
  const made: string[] = [];
  for (const pool of pools) if (await addPool(store, pool, around)) made.push(pool.name);
  return made;
}

/** Those that are asked for, or the usual ones, and are not there. */
function newPools(
  present: readonly Pool[],
  { pool: asked, encapsulation, natOutgoing, overlay: chosen }: PoolFlags,
): readonly Pool[] {
  const wanted = asked ?? (present.length === 0 ? DEFAULT_POOLS : []);
  const pools: Pool[] = [];
  for (const cidr of wanted.filter((each) => !present.some((pool) => pool.cidr.equals(each)))) {
    const name = poolName(cidr, [...present, ...pools]);
    pools.push(resolvePool({ name, cidr, encapsulation, overlay: overlayFor(cidr, chosen), natOutgoing }));
  }
  return pools;
}

/**
 * Networks that this node has addresses of, but for those of the cluster itself.
 *
 * @param subnets the node's part of the cluster's addresses, where a bridge of before has some of them
 */
export async function ownNetworks(
  session: KernelSession,
  subnets: readonly Prefix[],
): Promise<readonly Prefix[]> {
  const [links, addresses] = [await session.links.list(), await session.addresses.list()];
  const ours = new Set(links.filter(({ group }) => group === LINK_GROUPS.cluster).map(({ index }) => index));
  return addresses
    .filter(({ link, protocol }) => !ours.has(link) && protocol !== ROUTE_PROTOCOL)
    .map(({ prefix }) => prefix.masked())
    .filter(({ addr }) => !addr.isLoopback && !addr.isLinkLocal)
    .filter(({ addr }) => !subnets.some((subnet) => subnet.contains(addr)));
}

async function poolsIn(store: Store): Promise<readonly Pool[]> {
  const { pools } = await inspectStore(store);
  // Only ranges matter here; blocks are as small as they have to be for the smallest pool.
  return pools.map(({ pool: name, cidr }) => resolvePool({ name, cidr, blockSize: cidr.addr.bits }));
}

/**
 * Looks whether a node can have its subnets, before its pools are made, which are thought to be there.
 *
 * @returns whether the cluster's nodes are to be told to keep to theirs: this is the first
 * @throws {CommandError} when another node has one of them, or nodes take blocks as they need them
 * @throws {IpamError} IPAM_POOL_INVALID when a subnet is no whole number of blocks of a pool
 */
export async function checkSubnets(
  store: Store,
  { name: node, subnets = [] }: Pick<WrittenNodeConfig, 'name' | 'subnets'>,
  flags: PoolFlags,
): Promise<boolean> {
  if (subnets.length === 0) return false;
  const { pools: present, settings } = await readCluster({ store });
  const pools = [...present, ...newPools(present, flags)];
  const used = (await inspectStore(store)).pools.flatMap(({ blocks }) => blocks);
  for (const subnet of subnets.map((text) => Prefix.parse(text))) {
    const pool = pools.find(({ cidr }) => cidr.containsPrefix(subnet));
    if (pool === undefined)
      throw new CommandError(EXIT.FAILED, `subnet ${subnet} is in no pool of the cluster`);
    const own = blocksWithin(pool, subnet);
    const taken = used.find((block) => block.node !== node && own.some((cidr) => cidr.equals(block.cidr)));
    if (taken?.node !== undefined) {
      throw new CommandError(
        EXIT.FAILED,
        `subnet ${subnet}: its block ${taken.cidr} belongs to node ${taken.node}`,
      );
    }
  }
  if (settings.mode === 'node-subnets') return false;
  if (used.length > 0) {
    throw new CommandError(
      EXIT.FAILED,
      `this cluster's nodes take blocks as they need them (mode ${settings.mode}), and have some`,
      { hint: 'join it without --subnet' },
    );
  }
  return true;
}

/** Whether it was made; two first nodes may come at the same time, and one of them is enough. */
async function addPool(
  store: Store,
  pool: Pool,
  around: { readonly nodes: readonly Prefix[]; readonly services: readonly Prefix[] },
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await putPool(store, pool, around);
      return true;
    } catch (error) {
      if (!StoreError.is(error, 'STORE_CONFLICT') || attempt === ATTEMPTS) throw error;
      if ((await poolsIn(store)).some(({ cidr }) => cidr.equals(pool.cidr))) return false;
    }
  }
}

const ATTEMPTS = 20;

/** What a pool is wrapped in: as it was chosen, but for the one overlay that carries no IPv6. */
export function overlayFor({ family }: Prefix, chosen: Overlay): Overlay {
  return chosen === 'ipip' && family === 6 ? 'vxlan' : chosen;
}

/** A name that no pool has yet. */
export function poolName({ family }: Prefix, taken: readonly Pick<Pool, 'name'>[]): string {
  const first = `pods-ipv${family}`;
  for (let number = 1; ; number++) {
    const name = number === 1 ? first : `${first}-${number}`;
    if (!taken.some((pool) => pool.name === name)) return name;
  }
}
