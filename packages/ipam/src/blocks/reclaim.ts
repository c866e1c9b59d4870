/** Blocks that nobody needs any more: a node's own, and those of a node that is gone. */
import { type Change, type Condition, StoreError } from '@heddle/store';
import { IpamError } from '../ipam-error.ts';
import { type Block, isIdleFor } from './block.ts';
import { IDLE_BEFORE_TAKEN } from './claim.ts';
import { reserves } from './cluster-pool.ts';
import { releaseHandle } from './give-back.ts';
import {
  attempts,
  type Cluster,
  deleteBlock,
  type Member,
  momentOf,
  putAffinity,
  putBlock,
  readAll,
  readBlock,
  readCluster,
  type Stored,
} from './member.ts';
import { type Affinity, affinityCodec, handleCodec, KEYS } from './records.ts';

/** What may be given up. */
export interface ReleaseIdleOptions {
  /** How many blocks of each pool the node keeps even if they are idle; 1 by default. */
  readonly keep?: number;
}

/**
 * Gives up the member's blocks that nobody has used for a minute, and ends what was begun and not finished. Each is
 * marked first, so that routes are withdrawn before another node can have it. In the mode `cluster-pool` those stay that keep
 * the node ahead of its need.
 *
 * @returns how many blocks were given up
 */
export async function releaseIdleBlocks(
  member: Member,
  { keep = 1 }: ReleaseIdleOptions = {},
): Promise<number> {
  const cluster = await readCluster(member);
  // There a node's blocks are its own for good.
  if (cluster.settings.mode === 'node-subnets') return 0;
  const affinities = await readAll<Affinity>(member.store, affinityCodec, KEYS.affinitiesOf(member.node));
  const spare = await spareAddresses(member, cluster, affinities);
  let given = 0;
  for (const ofPool of Map.groupBy(affinities, ({ value }) => value.pool).values()) {
    let left = ofPool.length;
    for (const affinity of ofPool) {
      const { state, cidr } = affinity.value;
      const size = Number(cidr.size());
      const spareNow = spare.get(cidr.family) ?? Infinity;
      const isNeeded = left <= keep || spareNow < size;
      if (isNeeded && state !== 'pendingDeletion') continue;
      if (!(await giveUp(member, cluster, affinity))) continue;
      // What was being given up counted for nothing.
      if (state === 'confirmed') spare.set(cidr.family, spareNow - size);
      left--;
      given++;
    }
  }
  return given;
}

/** How many addresses of a family are not needed to keep the node ahead, where it is to be. */
async function spareAddresses(
  member: Member,
  cluster: Cluster,
  affinities: readonly Stored<Affinity>[],
): Promise<Map<4 | 6, number>> {
  if (cluster.settings.mode !== 'cluster-pool') return new Map();
  const own = affinities.filter(({ value }) => value.state === 'confirmed');
  const blocks = await Promise.all(own.map(({ value }) => readBlock(member, value)));
  const values = blocks.flatMap((block) => (block === undefined ? [] : [block.value]));
  return new Map(reserves(member, cluster, values).map(({ family, spare }) => [family, spare]));
}

/** Gives one block up, unless it is in use or somebody changed it meanwhile. */
async function giveUp(member: Member, cluster: Cluster, affinity: Stored<Affinity>): Promise<boolean> {
  try {
    const block = await readBlock(member, affinity.value);
    if (block === undefined || block.value.node !== affinity.value.node) {
      await part(member, affinity, block, []);
      return true;
    }
    const isUnused = isUnusedFor(member, cluster, block.value);
    if (affinity.value.state !== 'pendingDeletion') {
      if (!isUnused) return false;
      return await withdraw(member, await mark(member, affinity, []), block);
    }
    if (isUnused) await part(member, affinity, block, []);
    else await unmark(member, affinity);
    return isUnused;
  } catch (error) {
    if (StoreError.is(error, 'STORE_CONFLICT')) return false;
    throw error;
  }
}

/** Where somebody takes an address from a block that has just been marked, its routes must not stay withdrawn. */
async function withdraw(member: Member, marked: Stored<Affinity>, block: Stored<Block>): Promise<boolean> {
  try {
    await part(member, marked, block, []);
    return true;
  } catch (error) {
    if (StoreError.is(error, 'STORE_CONFLICT')) await unmark(member, marked);
    throw error;
  }
}

function isUnusedFor(member: Member, { settings }: Cluster, block: Block): boolean {
  return isIdleFor(block, IDLE_BEFORE_TAKEN, momentOf(member, settings));
}

/**
 * Takes everything from a node that is gone: first its routes (by marking its blocks), then its addresses, then its
 * blocks; those in which others hold borrowed addresses stay, without a node, until one takes them over.
 *
 * @param gone what must hold in the store all the while: that the node's own entry is not there. When the node comes
 *   back in the middle, the rest is left to it
 * @throws {IpamError} IPAM_NODE_ALIVE when the condition does not hold (any more)
 * @example await removeNode(member, 'n7', { key: '/heddle/nodes/n7', revision: 0 });
 */
export async function removeNode(member: Member, node: string, gone: Condition): Promise<void> {
  const { store } = member;
  const what = `remove node ${node}`;
  const back = () => new IpamError('IPAM_NODE_ALIVE', `${what}: it is a member of the cluster again`);
  const guard = { ...gone, broken: back };
  const affinities = () => readAll<Affinity>(store, affinityCodec, KEYS.affinitiesOf(node));
  await attempts(what, guard, async () => {
    for (const affinity of await affinities()) {
      if (affinity.value.state === 'confirmed') await mark(member, affinity, [gone]);
    }
  });
  for (const { value, revision } of await readAll(store, handleCodec, KEYS.handlesOf(node))) {
    await releaseHandle(member, value.handle, { node, writtenAt: revision, guard });
  }
  await attempts(what, guard, async () => {
    for (const affinity of await affinities()) {
      await part(member, affinity, await readBlock(member, affinity.value), [gone]);
    }
  });
}

async function mark(
  { store }: Member,
  { value, revision }: Stored<Affinity>,
  also: readonly Condition[],
): Promise<Stored<Affinity>> {
  const marked = { ...value, state: 'pendingDeletion' } as const;
  const conditions = [{ key: KEYS.affinity(value.node, value.cidr), revision }, ...also];
  return { value: marked, revision: await store.commit({ conditions, changes: [putAffinity(marked)] }) };
}

async function unmark({ store }: Member, { value, revision }: Stored<Affinity>): Promise<void> {
  const conditions = [{ key: KEYS.affinity(value.node, value.cidr), revision }];
  await store.commit({ conditions, changes: [putAffinity({ ...value, state: 'confirmed' })] });
}

/**
 * Ends an affinity, and what it meant: the block goes when nobody holds an address of it, else it stays without a node.
 * A block that is another node's by now, or not there, is left alone.
 */
async function part(
  { store }: Member,
  { value: affinity, revision }: Stored<Affinity>,
  block: Stored<Block> | undefined,
  also: readonly Condition[],
): Promise<void> {
  const key = KEYS.affinity(affinity.node, affinity.cidr);
  const conditions = [{ key, revision }, ...also];
  const changes: Change[] = [{ delete: key }];
  if (block?.value.node === affinity.node) {
    const { node: _, ...without } = block.value;
    conditions.push(blockCondition(block));
    changes.push(...(without.held.length === 0 ? deleteBlock(without) : [putBlock(without)]));
  }
  await store.commit({ conditions, changes });
}

function blockCondition({ value, revision }: Stored<Block>): Condition {
  return { key: KEYS.block(value.pool, value.cidr), revision };
}
