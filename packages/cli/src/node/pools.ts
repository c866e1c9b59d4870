/** The pools that a cluster has from its first node on. */

import { LINK_GROUPS, ROUTE_PROTOCOL } from '@heddle/dataplane';
import { checkPools, inspectStore, type Pool, putPool, resolvePool } from '@heddle/ipam/blocks';
import { Prefix } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import { type Store, StoreError } from '@heddle/store';
import type { UpFlags } from './flags.ts';

/** What pods get their addresses from when nothing is said. */
const DEFAULT_POOLS: readonly Prefix[] = ['10.244.0.0/16', 'fd00:10:244::/48'].map((text) =>
  Prefix.parse(text),
);

/**
 * Makes the pools that are asked for, or the usual ones where the cluster has none; those that are there stay as they are.
 *
 * @returns the names of those that were made
 * @throws {IpamError} IPAM_POOL_INVALID when one overlaps another one, or the networks of this node
 */
export async function ensurePools(
  store: Store,
  session: KernelSession,
  flags: UpFlags,
): Promise<readonly string[]> {
  const around = { nodes: await ownNetworks(session) };
  const present = await poolsIn(store);
  const wanted = flags.pool ?? (present.length === 0 ? DEFAULT_POOLS : []);
  const pools: Pool[] = [];
  for (const cidr of wanted.filter((each) => !present.some((pool) => pool.cidr.equals(each)))) {
    const name = nameFor(cidr, [...present, ...pools]);
    const { encapsulation, natOutgoing } = flags;
    // The one overlay that carries no IPv6.
    const overlay = flags.overlay === 'ipip' && cidr.family === 6 ? 'vxlan' : flags.overlay;
    pools.push(resolvePool({ name, cidr, encapsulation, overlay, natOutgoing }));
  }
  // All of them before the first one is made.
  checkPools([...present, ...pools], around);
  const made: string[] = [];
  for (const pool of pools) if (await put(store, pool, around)) made.push(pool.name);
  return made;
}

/** Networks that this node has addresses of, but for those of the cluster itself. */
async function ownNetworks(session: KernelSession): Promise<readonly Prefix[]> {
  const [links, addresses] = [await session.links.list(), await session.addresses.list()];
  const ours = new Set(links.filter(({ group }) => group === LINK_GROUPS.cluster).map(({ index }) => index));
  return addresses
    .filter(({ link, protocol }) => !ours.has(link) && protocol !== ROUTE_PROTOCOL)
    .map(({ prefix }) => prefix.masked())
    .filter(({ addr }) => !addr.isLoopback && !addr.isLinkLocal);
}

async function poolsIn(store: Store): Promise<readonly Pool[]> {
  const { pools } = await inspectStore(store);
  // Only ranges matter here; blocks are as small as they have to be for the smallest pool.
  return pools.map(({ pool: name, cidr }) => resolvePool({ name, cidr, blockSize: cidr.addr.bits }));
}

/** Whether it was made; two first nodes may come at the same time, and one of them is enough. */
async function put(
  store: Store,
  pool: Pool,
  around: { readonly nodes: readonly Prefix[] },
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

function nameFor({ family }: Prefix, taken: readonly Pool[]): string {
  const first = `pods-ipv${family}`;
  for (let number = 1; ; number++) {
    const name = number === 1 ? first : `${first}-${number}`;
    if (!taken.some((pool) => pool.name === name)) return name;
  }
}
