/** How a node comes to a block of its own. */
import type { Prefix } from '@heddle/netaddr';
import { StoreError } from '@heddle/store';
import { type Block, emptyBlock, isIdleFor, nextFree } from './block.ts';
import { blockOrder } from './block-order.ts';
import {
  commitAs,
  type Member,
  momentOf,
  putAffinity,
  putBlock,
  read,
  readAll,
  readBlock,
  type Stored,
} from './member.ts';
import type { Pool } from './pool.ts';
import { type Affinity, affinityCodec, blockCodec, type IpamSettings, KEYS } from './records.ts';

/** For how long nobody must have used a node's block before another node may take it over; milliseconds. */
export const IDLE_BEFORE_TAKEN = 60_000;

/**
 * Claims a block of the pool: one that nobody has, else one that lost its node and has room.
 *
 * @returns `undefined` when there is none
 */
export async function claimBlock(
  member: Member,
  pool: Pool,
  settings: IpamSettings,
): Promise<Stored<Block> | undefined> {
  const deletions = (await member.store.get(KEYS.deletions))?.revision ?? 0;
  const known = await knownBlocks(member, pool);
  for (const cidr of blockOrder(pool, member.node)) {
    const block = known.get(cidr.toString());
    if (block === undefined) {
      const made = await unlessTaken(member, () => makeBlock(member, pool, cidr, deletions));
      if (made !== undefined) return made;
    } else if (
      block.value.node === undefined &&
      nextFree(block.value, pool, momentOf(member, settings)) !== undefined
    ) {
      const adopted = await unlessTaken(member, () => adopt(member, block));
      if (adopted !== undefined) return adopted;
    }
  }
  return undefined;
}

/** Claims a certain block, which is not there yet. @throws {StoreError} STORE_CONFLICT when somebody was faster */
export async function claimExactly(member: Member, pool: Pool, cidr: Prefix): Promise<Stored<Block>> {
  const deletions = (await member.store.get(KEYS.deletions))?.revision ?? 0;
  const begun = await read<Affinity>(member.store, affinityCodec, KEYS.affinity(member.node, cidr));
  return makeBlock(member, pool, cidr, deletions, begun);
}

/** Takes over a block that another node has, but has not used for a while; `undefined` when there is none. */
export async function takeOverIdle(
  member: Member,
  pool: Pool,
  settings: IpamSettings,
): Promise<Stored<Block> | undefined> {
  const moment = momentOf(member, settings);
  const known = await knownBlocks(member, pool);
  for (const cidr of blockOrder(pool, member.node)) {
    const block = known.get(cidr.toString());
    if (block === undefined || block.value.node === member.node) continue;
    if (!isIdleFor(block.value, IDLE_BEFORE_TAKEN, moment)) continue;
    const taken = await unlessTaken(member, () => adopt(member, block));
    if (taken !== undefined) return taken;
  }
  return undefined;
}

/** Makes an own claim good that was begun and not finished, and an own block again of one that was to be given up. */
export async function resume(
  member: Member,
  pool: Pool,
  affinity: Stored<Affinity>,
): Promise<Stored<Block> | undefined> {
  const deletions = (await member.store.get(KEYS.deletions))?.revision ?? 0;
  const block = await readBlock(member, affinity.value);
  if (block === undefined) return makeBlock(member, pool, affinity.value.cidr, deletions, affinity);
  const { node, cidr } = affinity.value;
  const conditions = [condition(KEYS.affinity(node, cidr), affinity), condition(keyOf(block.value), block)];
  if (block.value.node !== node) {
    // Another node was faster: the wish is forgotten.
    await commitAs(member, conditions, [{ delete: KEYS.affinity(node, cidr) }]);
    return undefined;
  }
  await commitAs(member, conditions, [putAffinity({ ...affinity.value, state: 'confirmed' })]);
  return block;
}

/** In two steps, so that whoever reads affinities never takes a block for a node's that is not there. */
async function makeBlock(
  member: Member,
  pool: Pool,
  cidr: Prefix,
  deletions: number,
  begun?: Stored<Affinity>,
): Promise<Stored<Block>> {
  const { node } = member;
  const key = KEYS.affinity(node, cidr);
  const affinity = { node, pool: pool.name, cidr };
  const poolKey = KEYS.pool(pool.name);
  const present = await member.store.get(poolKey);
  if (present === undefined) {
    throw new StoreError('STORE_CONFLICT', `pool ${pool.name} was removed meanwhile`, { keys: [poolKey] });
  }
  const wish =
    begun?.revision ??
    (await commitAs(member, [{ key, revision: 0 }], [putAffinity({ ...affinity, state: 'pending' })]));
  // No block that was deleted had a larger sequence number than its deletion's revision.
  const block: Block = { ...emptyBlock(pool, cidr, Math.max(wish, deletions), member.now()), node };
  const conditions = [
    { key, revision: wish },
    { key: keyOf(block), revision: 0 },
    { key: KEYS.deletions, revision: deletions },
    { key: poolKey, revision: present.revision },
  ];
  try {
    const revision = await commitAs(member, conditions, [
      putAffinity({ ...affinity, state: 'confirmed' }),
      putBlock(block),
      { put: KEYS.claims, value: '' },
    ]);
    return { value: block, revision };
  } catch (error) {
    // One that is more than a wish by now, another task of this node has made good.
    const isWish = begun === undefined || begun.value.state === 'pending';
    if (isWish && StoreError.is(error, 'STORE_CONFLICT')) {
      await member.store.commit({ conditions: [{ key, revision: wish }], changes: [{ delete: key }] });
    }
    throw error;
  }
}

/** Makes a block the member's that is there already. @throws {StoreError} STORE_CONFLICT when somebody was faster */
export async function adopt(member: Member, { value, revision }: Stored<Block>): Promise<Stored<Block>> {
  const { node: before, cidr, pool } = value;
  const { node } = member;
  const own = KEYS.affinity(node, cidr);
  const mine = await member.store.get(own);
  const block = { ...value, node, ...(value.held.length === 0 && { emptySince: member.now() }) };
  const written = await commitAs(
    member,
    [
      { key: keyOf(value), revision },
      { key: own, revision: mine?.revision ?? 0 },
    ],
    [
      putBlock(block),
      putAffinity({ node, pool, cidr, state: 'confirmed' }),
      ...(before === undefined || before === node ? [] : [{ delete: KEYS.affinity(before, cidr) }]),
    ],
  );
  return { value: block, revision: written };
}

async function knownBlocks({ store }: Member, pool: Pool): Promise<ReadonlyMap<string, Stored<Block>>> {
  const all = await readAll<Block>(store, blockCodec, KEYS.blocksOf(pool.name));
  return new Map(all.map((block) => [block.value.cidr.toString(), block]));
}

async function unlessTaken<T>({ presence }: Member, claim: () => Promise<T>): Promise<T | undefined> {
  try {
    return await claim();
  } catch (error) {
    if (!StoreError.is(error, 'STORE_CONFLICT')) throw error;
    const isOfAll = (key: string) => key === KEYS.deletions || key.startsWith(KEYS.pools);
    if (error.keys.some((key) => isOfAll(key) || key === presence?.key)) throw error;
    return undefined;
  }
}

function keyOf({ pool, cidr }: Pick<Block, 'pool' | 'cidr'>): string {
  return KEYS.block(pool, cidr);
}

function condition(key: string, { revision }: Stored<unknown>) {
  return { key, revision };
}
