/**
 * Taking addresses for an attachment: one of each family that is asked for, all in one commit, or none.
 *
 * The order is: the node's own blocks; a block that nobody has; a block that another node has but does not use; an
 * address of another node's block, unless affinity is strict.
 */
import { type Addr, Prefix } from '@heddle/netaddr';
import type { StoreError } from '@heddle/store';
import { IpamError } from '../ipam-error.ts';
import { addressAt, type Block, isFree, nextFree, ordinalOf, take } from './block.ts';
import { blockAround } from './block-order.ts';
import { claimBlock, claimExactly, resume, takeOverIdle } from './claim.ts';
import { PoolsExhaustedError } from './exhausted.ts';
import {
  attempts,
  type Cluster,
  commitAs,
  type Member,
  momentOf,
  poolsFor,
  presenceGuard,
  putBlock,
  read,
  readAffinities,
  readAll,
  readBlock,
  readCluster,
  type Stored,
} from './member.ts';
import { isReserved, type Pool } from './pool.ts';
import { blockCodec, type HandleRecord, handleCodec, KEYS } from './records.ts';

/** What to take. */
export interface BlockRequest {
  /** Names the attachment; it is what the addresses are given back by. No other attachment has it, ever. */
  readonly handle: string;
  /** One address is taken of each. */
  readonly families: readonly (4 | 6)[];
  /** Addresses that are wanted, at most one of a family. */
  readonly addresses?: readonly Addr[];
  /** The names of the pools to take from; all that are for the node by default. */
  readonly pools?: readonly string[];
  readonly signal?: AbortSignal;
}

/** One address that was taken. */
export interface BlockAllocation {
  /** The address by itself, `10.244.3.7/32`: what is around it is reached through the node. */
  readonly address: Prefix;
  readonly pool: string;
  readonly block: Prefix;
  /** Tells this holder of the address from all others. */
  readonly sequence: number;
}

interface Choice {
  readonly pool: Pool;
  readonly block: Stored<Block>;
  readonly ordinal: number;
}

/**
 * Takes addresses for an attachment of the member's node. Asking again for a handle that has addresses gives the same
 * ones, so whoever did not get the answer may ask again.
 *
 * @throws {IpamError} IPAM_NO_POOL, IPAM_ADDRESS_UNAVAILABLE, IPAM_REQUEST_UNMET, IPAM_DUPLICATE, IPAM_NODE_LOST,
 *   IPAM_BUSY
 * @throws {PoolsExhaustedError} when no pool has a free address
 * @throws {StoreError} as the store does
 * @example
 * const [v4, v6] = await allocateAddresses(member, { handle: 'pods.c1.eth0', families: [4, 6] });
 */
export async function allocateAddresses(
  member: Member,
  request: BlockRequest,
): Promise<readonly BlockAllocation[]> {
  const { handle, families, addresses = [], signal } = request;
  for (const addr of addresses) refuseUnasked(addr, request);
  const what = `take addresses for ${handle}`;
  return attempts(
    what,
    presenceGuard(member, what),
    async () => {
      const key = KEYS.handle(member.node, handle);
      const known = await read<HandleRecord>(member.store, handleCodec, key);
      if (known !== undefined) return same(known.value, request);
      const cluster = await readCluster(member);
      const choices: Choice[] = [];
      for (const family of families) {
        const wanted = addresses.find((addr) => addr.family === family);
        const pools = poolsAsked(member, cluster, family, request);
        choices.push(
          wanted === undefined
            ? await chooseAny(member, cluster, pools)
            : await chooseExactly(member, cluster, pools, wanted),
        );
      }
      return commitChoices(member, handle, choices);
    },
    signal,
  );
}

async function commitChoices(
  member: Member,
  handle: string,
  choices: readonly Choice[],
): Promise<readonly BlockAllocation[]> {
  const { node } = member;
  const key = KEYS.handle(node, handle);
  const taken = choices.map(({ block: { value, revision }, ordinal }) => ({
    block: take(value, ordinal, handle, node),
    revision,
    addr: addressAt(value, ordinal),
  }));
  const record: HandleRecord = {
    handle,
    node,
    addresses: taken.map(({ block: { pool, cidr, sequence }, addr }) => ({
      addr,
      pool,
      block: cidr,
      sequence,
    })),
  };
  await commitAs(
    member,
    [
      { key, revision: 0 },
      ...taken.map(({ block: { pool, cidr }, revision }) => ({ key: KEYS.block(pool, cidr), revision })),
    ],
    [{ put: key, value: handleCodec.encode(record) }, ...taken.map(({ block }) => putBlock(block))],
  );
  return toAllocations(record);
}

async function chooseAny(member: Member, cluster: Cluster, pools: readonly Pool[]): Promise<Choice> {
  const { settings } = cluster;
  const own = await fromOwn(member, cluster, pools);
  if (own.choice !== undefined) return own.choice;
  const mayHaveMore = settings.mode === 'cluster-pool' || own.count < settings.maxBlocksPerNode;
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

async function chooseExactly(
  member: Member,
  cluster: Cluster,
  pools: readonly Pool[],
  addr: Addr,
): Promise<Choice> {
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
  const block =
    (await readBlock(member, { pool: pool.name, cidr })) ?? (await claimExactly(member, pool, cidr));
  const { node } = block.value;
  if (isStrict(cluster) && node !== member.node) {
    throw refuse(`its block ${cidr} belongs to ${node ?? 'no node'}, and affinity is strict`);
  }
  const ordinal = ordinalOf(block.value, addr);
  const holder = block.value.held.find((held) => held.ordinal === ordinal);
  if (holder !== undefined) throw refuse(`it is held by ${holder.handle} on ${holder.node}`);
  if (!isFree(block.value, ordinal, momentOf(member, cluster.settings))) {
    throw refuse(`it was given back less than ${cluster.settings.coolDownSeconds} seconds ago`);
  }
  return { pool, block, ordinal };
}

function free(member: Member, { settings }: Cluster, pool: Pool, block: Stored<Block>): Choice | undefined {
  const ordinal = nextFree(block.value, pool, momentOf(member, settings));
  return ordinal === undefined ? undefined : { pool, block, ordinal };
}

function isStrict({ settings }: Cluster): boolean {
  return settings.strictAffinity || settings.mode === 'cluster-pool';
}

function poolsAsked(
  member: Member,
  cluster: Cluster,
  family: 4 | 6,
  { pools: asked }: BlockRequest,
): readonly Pool[] {
  const usable = poolsFor(member, cluster, family);
  const pools = asked === undefined ? usable : usable.filter(({ name }) => asked.includes(name));
  if (pools.length > 0) return pools;
  const which = asked === undefined ? '' : ` among ${asked.join(', ')}`;
  throw new IpamError('IPAM_NO_POOL', `no pool of IPv${family} is enabled for node ${member.node}${which}`, {
    hint: `all pools: ${namesOf(cluster.pools)}`,
  });
}

function refuseUnasked(addr: Addr, { families, addresses = [] }: BlockRequest): void {
  if (!families.includes(addr.family)) {
    throw new IpamError(
      'IPAM_REQUEST_UNMET',
      `requested address ${addr}: no address of IPv${addr.family} is taken`,
    );
  }
  if (addresses.filter(({ family }) => family === addr.family).length > 1) {
    throw new IpamError(
      'IPAM_REQUEST_UNMET',
      `requested address ${addr}: one address is taken of each family`,
    );
  }
}

/** What the handle has, if that is what is asked for. */
function same(record: HandleRecord, { families, addresses = [] }: BlockRequest): readonly BlockAllocation[] {
  const has = (addr: Addr) => record.addresses.some((each) => each.addr.equals(addr));
  const familiesHeld = record.addresses.map(({ addr }) => addr.family);
  if (String(familiesHeld) === String(families) && addresses.every(has)) return toAllocations(record);
  const held = record.addresses.map(({ addr }) => addr).join(', ');
  throw new IpamError(
    'IPAM_DUPLICATE',
    `${record.handle} holds ${held} already, which is not what is asked for`,
  );
}

function toAllocations({ addresses }: HandleRecord): readonly BlockAllocation[] {
  return addresses.map(({ addr, pool, block, sequence }) => ({
    address: Prefix.host(addr),
    pool,
    block,
    sequence,
  }));
}

async function exhausted(
  member: Member,
  cluster: Cluster,
  pools: readonly Pool[],
  mayHaveMore: boolean,
): Promise<PoolsExhaustedError | StoreError> {
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
    isStrict(cluster)
      ? 'add a pool, or let nodes borrow from each other'
      : 'add a pool, or wait for releases',
  );
}

function namesOf(pools: readonly Pool[]): string {
  return pools.length === 0 ? 'none' : pools.map(({ name, cidr }) => `${name} (${cidr})`).join(', ');
}
