/**
 * Which address an attachment gets. The order is: the node's own blocks; a block that nobody has; a block that another
 * node has but does not use; an address of another node's block, unless affinity is strict.
 */
import type { Addr } from '@heddle/netaddr';
import { IpamError } from '../ipam-error.ts';
import { type Block, isFree, nextFree, ordinalOf } from './block.ts';
import { blockAround } from './block-order.ts';
import { claimBlock, claimExactly, resume, takeOverIdle } from './claim.ts';
import { PoolsExhaustedError } from './exhausted.ts';
import {
  type Cluster,
  type Member,
  momentOf,
  readAffinities,
  readAll,
  readBlock,
  type Stored,
} from './member.ts';
import { blocksOf, isReserved, type Pool } from './pool.ts';
import { blockCodec, KEYS } from './records.ts';

/** An address that can be taken: a place in a block as it was read. */
export interface Choice {
  readonly pool: Pool;
  readonly block: Stored<Block>;
  readonly ordinal: number;
}

/** Any address of the pools. @throws {PoolsExhaustedError} */
export async function chooseAny(member: Member, cluster: Cluster, pools: readonly Pool[]): Promise<Choice> {
  const { settings } = cluster;
  const own = await fromOwn(member, cluster, pools);
  if (own.choice !== undefined) return own.choice;
  const mayHaveMore = mayClaim(cluster, own.count);
  for (const gain of mayHaveMore ? [claimBlock, takeOverIdle] : []) {
    for (const pool of pools) {
      const block = await gain(member, pool, settings);
      const choice = block === undefined ? undefined : free(member, cluster, pool, block);
      if (choice !== undefined) return choice;
    }
  }
  const borrowed = isStrict(cluster) ? undefined : await borrow(member, cluster, pools);
  if (borrowed !== undefined) return borrowed;
  throw await exhausted(member, cluster, pools, mayHaveMore);
}

async function fromOwn(
  member: Member,
  cluster: Cluster,
  pools: readonly Pool[],
): Promise<{ readonly choice?: Choice; readonly count: number }> {
  const family = pools[0]?.cidr.family;
  const affinities = await readAffinities(
    member,
    cluster.pools.filter(({ cidr }) => cidr.family === family),
  );
  // Those that are being given up come last: taking one back is a change more.
  const order = affinities.toSorted((a, b) => rank(a.value.state) - rank(b.value.state));
  for (const affinity of order) {
    const pool = pools.find(({ name }) => name === affinity.value.pool);
    if (pool === undefined) continue;
    const { state } = affinity.value;
    const block =
      state === 'confirmed' ? await readBlock(member, affinity.value) : await resume(member, pool, affinity);
    const choice = block === undefined ? undefined : free(member, cluster, pool, block);
    if (choice !== undefined) return { choice, count: affinities.length };
  }
  return { count: affinities.length };
}

function rank(state: 'pending' | 'confirmed' | 'pendingDeletion'): number {
  return ['confirmed', 'pending', 'pendingDeletion'].indexOf(state);
}

async function borrow(member: Member, cluster: Cluster, pools: readonly Pool[]): Promise<Choice | undefined> {
  for (const pool of pools) {
    const blocks = await readAll<Block>(member.store, blockCodec, KEYS.blocksOf(pool.name));
    for (const block of blocks) {
      const choice = free(member, cluster, pool, block);
      if (choice !== undefined) return choice;
    }
  }
  return undefined;
}

/** A certain address. @throws {IpamError} IPAM_REQUEST_UNMET, IPAM_ADDRESS_UNAVAILABLE */
export async function chooseExactly(
  member: Member,
  cluster: Cluster,
  pools: readonly Pool[],
  addr: Addr,
): Promise<Choice> {
  const { settings } = cluster;
  const refuse = (why: string) =>
    new IpamError('IPAM_ADDRESS_UNAVAILABLE', `requested address ${addr}: ${why}`);
  const pool = pools.find(({ cidr }) => cidr.contains(addr));
  if (pool === undefined) {
    throw new IpamError('IPAM_REQUEST_UNMET', `requested address ${addr} is in no pool that can be used`, {
      hint: `pools: ${namesOf(pools)}`,
    });
  }
  if (isReserved(pool, addr)) throw refuse(`it is reserved in pool ${pool.name}`);
  const cidr = blockAround(pool, addr);
  const present = await readBlock(member, { pool: pool.name, cidr });
  if (present === undefined && settings.mode === 'node-subnets') {
    throw refuse(`its block ${cidr} is in no subnet of node ${member.node}`);
  }
  const block = present ?? (await claimExactly(member, pool, cidr));
  const { node } = block.value;
  if (isStrict(cluster) && node !== member.node) {
    throw refuse(`its block ${cidr} belongs to ${node ?? 'no node'}, and affinity is strict`);
  }
  const ordinal = ordinalOf(block.value, addr);
  const holder = block.value.held.find((held) => held.ordinal === ordinal);
  if (holder !== undefined) throw refuse(`it is held by ${holder.handle} on ${holder.node}`);
  if (!isFree(block.value, ordinal, momentOf(member, settings))) {
    throw refuse(`it was given back less than ${settings.coolDownSeconds} seconds ago`);
  }
  return { pool, block, ordinal };
}

/** Looks whether an address of the pools can be had, and takes nothing. @throws {PoolsExhaustedError} */
export async function requireRoom(member: Member, cluster: Cluster, pools: readonly Pool[]): Promise<void> {
  let own = 0;
  for (const pool of pools) {
    const blocks = await readAll<Block>(member.store, blockCodec, KEYS.blocksOf(pool.name));
    own += blocks.filter(({ value }) => value.node === member.node).length;
    const mayTake = ({ node }: Block) => node === undefined || node === member.node || !isStrict(cluster);
    if (blocks.some((block) => mayTake(block.value) && free(member, cluster, pool, block) !== undefined))
      return;
    if (mayClaim(cluster, own) && BigInt(blocks.length) < blocksOf(pool)) return;
  }
  throw await exhausted(member, cluster, pools, mayClaim(cluster, own));
}

function free(member: Member, { settings }: Cluster, pool: Pool, block: Stored<Block>): Choice | undefined {
  const ordinal = nextFree(block.value, pool, momentOf(member, settings));
  return ordinal === undefined ? undefined : { pool, block, ordinal };
}

/** Whether nodes give addresses of their own blocks only. */
export function isStrict({ settings }: Cluster): boolean {
  return settings.strictAffinity || settings.mode !== 'blocks';
}

/** Whether a node with so many blocks of a family may have one more. */
function mayClaim({ settings }: Cluster, count: number): boolean {
  switch (settings.mode) {
    case 'blocks':
      return count < settings.maxBlocksPerNode;
    case 'cluster-pool':
      return true;
    case 'node-subnets':
      return false;
  }
}

async function exhausted(
  member: Member,
  cluster: Cluster,
  pools: readonly Pool[],
  mayHaveMore: boolean,
): Promise<PoolsExhaustedError> {
  const blocks = await Promise.all(
    pools.map(({ name }) => readAll<Block>(member.store, blockCodec, KEYS.blocksOf(name))),
  );
  const all = blocks.flat().map(({ value }) => value);
  const own = all.filter(({ node }) => node === member.node);
  const why = mayHaveMore
    ? 'no block is free'
    : `node ${member.node} has ${own.length} blocks, which is as many as it may have`;
  return new PoolsExhaustedError(
    `no address is free for node ${member.node} in ${namesOf(pools)}: ${why}`,
    {
      pools: pools.map(({ name }) => name),
      held: all.reduce((sum, { held }) => sum + held.length, 0),
      resting: all.reduce((sum, { released }) => sum + released.length, 0),
    },
    remedyFor(cluster),
  );
}

function remedyFor(cluster: Cluster): string {
  if (cluster.settings.mode === 'node-subnets') return 'give the node another subnet: `heddle up --subnet`';
  return isStrict(cluster)
    ? 'add a pool, or let nodes borrow from each other'
    : 'add a pool, or wait for releases';
}

/** Pools as messages name them. */
export function namesOf(pools: readonly Pool[]): string {
  return pools.length === 0 ? 'none' : pools.map(({ name, cidr }) => `${name} (${cidr})`).join(', ');
}
