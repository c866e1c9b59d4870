/** What taking a node over comes to: looked for in the store and the kernel, and nothing changed. */
import type { WrittenNodeConfig } from '@heddle/agent';
import { fileStore, formatOwner, type Reservation } from '@heddle/ipam';
import {
  BLOCK_SIZES,
  blocksWithin,
  checkPools,
  inspectStore,
  type Pool,
  readCluster,
  resolvePool,
} from '@heddle/ipam/blocks';
import type { Addr, Prefix } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import type { Store } from '@heddle/store';
import { overlayFor, ownNetworks, type PoolFlags, poolName } from '../node/pools.ts';
import { type Former, refusal } from './former.ts';
import { formerPeers } from './peers.ts';

/** See the file's comment. */
export interface MigrationPlan {
  readonly former: Former;
  /** The pods of now. */
  readonly pods: readonly Reservation[];
  /** Pools that are made. */
  readonly pools: readonly Pool[];
  /** Pools that are there. */
  readonly present: readonly Pool[];
  /** Blocks of the node's subnets, which become its own. */
  readonly blocks: readonly Prefix[];
  /** Subnets of other nodes, as the former network reaches them. */
  readonly peers: readonly Prefix[];
  /** Whether the whole cluster is told that nodes keep to their subnets. */
  readonly setsMode: boolean;
}

/**
 * Makes the plan.
 *
 * @throws {CommandError} when the node cannot be taken over, with all reasons
 * @throws {IpamError} IPAM_POOL_INVALID when a pool would overlap another one, or a network of the node
 * @throws {StoreError} as the store does
 */
export async function planMigration(
  former: Former,
  { name: node, subnets }: Pick<WrittenNodeConfig, 'name' | 'subnets'>,
  flags: Partial<PoolFlags>,
  { store, session }: { readonly store: Store; readonly session: KernelSession },
): Promise<MigrationPlan> {
  const { pools: present, settings } = await readCluster({ store });
  if (present.length > 0 && settings.mode !== 'node-subnets') {
    throw refusal(`the nodes of this cluster take blocks as they need them (mode ${settings.mode})`, {
      hint: `they may give ${former.subnets.join(' and ')} to others; drain the node, and use \`heddle up\``,
    });
  }
  const pools = former.ranges
    .map((range) => flags.pool?.find((wider) => wider.containsPrefix(range)) ?? range)
    .filter((range) => !present.some(({ cidr }) => cidr.containsPrefix(range)))
    .map((range): Pool => poolFor(range, former, flags, present));
  const all = [...present, ...pools];
  const blocks = former.subnets.flatMap((subnet) => {
    const pool = all.find(({ cidr }) => cidr.containsPrefix(subnet));
    if (pool === undefined) throw refusal(`subnet ${subnet} is in no range of the network`);
    return blocksWithin(pool, subnet);
  });
  const pods = fileStore({ directory: former.reservations })
    .list()
    .filter(({ owner }) => owner !== undefined);
  const why = [
    ...(await claimedByOthers(store, node, blocks, pods)),
    ...outside(pods, former.subnets),
    ...changed(subnets ?? [], former.subnets),
  ];
  if (why.length > 0) throw refusal(why.join('; '));
  const around = { nodes: await ownNetworks(session, former.subnets), services: flags.serviceCidr ?? [] };
  checkPools([...present, ...pools], around);
  const peers = await formerPeers(
    session,
    all.map(({ cidr }) => cidr),
    former,
  );
  return { ...{ former, pods, pools, present, blocks, peers }, setsMode: settings.mode !== 'node-subnets' };
}

/** With blocks that are no larger than the node's subnet. */
function poolFor(
  cidr: Prefix,
  former: Former,
  {
    encapsulation = former.encapsulation,
    overlay = 'vxlan',
    natOutgoing = former.natOutgoing,
  }: Partial<PoolFlags>,
  present: readonly Pool[],
): Pool {
  const { family } = cidr;
  const bits = former.subnets.filter((subnet) => subnet.family === family).map((subnet) => subnet.bits);
  return resolvePool({
    ...{ name: poolName(cidr, present), cidr, encapsulation, natOutgoing },
    blockSize: Math.max(BLOCK_SIZES[family].usual, ...bits),
    overlay: overlayFor(cidr, overlay),
  });
}

async function claimedByOthers(
  store: Store,
  node: string,
  blocks: readonly Prefix[],
  pods: readonly Reservation[],
): Promise<readonly string[]> {
  const { pools, handles } = await inspectStore(store);
  const foreign = pools
    .flatMap((pool) => pool.blocks)
    .filter((block) => block.node !== undefined && block.node !== node)
    .filter(({ cidr }) => blocks.some((own) => own.equals(cidr)));
  const held = handles
    .filter((handle) => handle.node !== node)
    .flatMap(({ handle, node: where, addresses }) => addresses.map(({ addr }) => ({ addr, handle, where })));
  return [
    ...foreign.map(({ cidr, node: owner }) => `block ${cidr} belongs to node ${owner}`),
    ...pods.flatMap(({ addr, owner }) =>
      held
        .filter((each) => each.addr.equals(addr))
        .map(({ handle, where }) => `${formatOwner(owner)} uses ${addr}, which ${handle} on ${where} holds`),
    ),
  ];
}

function outside(pods: readonly Reservation[], subnets: readonly Prefix[]): readonly string[] {
  const isWithin = (addr: Addr) => subnets.some((subnet) => subnet.contains(addr));
  return pods
    .filter(({ addr }) => !isWithin(addr))
    .map(({ addr, owner }) => `${formatOwner(owner)} has ${addr}, which is in no subnet of this node`);
}

function changed(before: readonly string[], now: readonly Prefix[]): readonly string[] {
  if (before.length === 0 || String(before) === String(now)) return [];
  return [`the node has the subnets ${before.join(', ')} already, and these are ${now.join(', ')}`];
}
