/** The mode `cluster-pool`: every node is kept ahead of its need with blocks of its own. */
import type { Block } from './block.ts';
import { claimBlock } from './claim.ts';
import {
  attempts,
  type Cluster,
  type Member,
  poolsFor,
  presenceGuard,
  readAffinities,
  readBlock,
  readCluster,
  type Stored,
} from './member.ts';
import { addressesPerBlock, type Pool } from './pool.ts';

/** How far ahead a node is kept. */
export interface Ahead {
  /** At least so many addresses are there besides those in use. */
  readonly ahead: number;
  /** What is needed is rounded up to a multiple of this; `ahead` by default. */
  readonly step?: number;
}

/** How many addresses a node should have. @example neededAddresses(9, { ahead: 8 }) // 24 */
export function neededAddresses(inUse: number, { ahead, step = ahead }: Ahead): number {
  return Math.ceil((inUse + ahead) / step) * step;
}

/** How many blocks that makes. @example neededBlocks(pool, 256, { ahead: 8 }) // 2, of /24 */
export function neededBlocks(pool: Pick<Pool, 'cidr' | 'blockSize'>, inUse: number, ahead: Ahead): number {
  return Math.ceil(neededAddresses(inUse, ahead) / addressesPerBlock(pool));
}

/** What a node has of a family, and what it should have. */
export interface Reserve {
  readonly family: 4 | 6;
  /** Addresses that nobody holds; some of them may rest. */
  readonly free: number;
  /** How many addresses the node has besides {@link Reserve.needed}; less than none when it is behind. */
  readonly spare: number;
  /** How many it should have, those in use included. */
  readonly needed: number;
}

/** How far ahead a member is with these blocks, by family; nothing in other modes than `cluster-pool`. */
export function reserves(member: Member, cluster: Cluster, blocks: readonly Block[]): readonly Reserve[] {
  const { settings } = cluster;
  if (settings.mode !== 'cluster-pool') return [];
  return FAMILIES.flatMap((family) => {
    const pools = poolsFor(member, cluster, family);
    return pools.length === 0 ? [] : [reserveOf(family, pools, blocks, settings)];
  });
}

/**
 * Claims blocks until the member has what it needs of a family.
 *
 * @returns the member's blocks; fewer than needed when the pools have no more
 */
export async function keepAhead(
  member: Member,
  family: 4 | 6,
  ahead: Ahead,
): Promise<readonly Stored<Block>[]> {
  const what = `keep node ${member.node} ahead of its need`;
  return attempts(what, presenceGuard(member, what), async () => {
    const cluster = await readCluster(member);
    const pools = poolsFor(member, cluster, family);
    const blocks = await ownBlocks(member, pools);
    const values = () => blocks.map(({ value }) => value);
    for (const pool of pools) {
      while (reserveOf(family, pools, values(), ahead).spare < 0) {
        const claimed = await claimBlock(member, pool, cluster.settings);
        if (claimed === undefined) break;
        blocks.push(claimed);
      }
    }
    return blocks;
  });
}

const FAMILIES = [4, 6] as const;

function reserveOf(family: 4 | 6, pools: readonly Pool[], blocks: readonly Block[], ahead: Ahead): Reserve {
  let inUse = 0;
  let given = 0;
  for (const { pool: name, held } of blocks) {
    const pool = pools.find((each) => each.name === name);
    if (pool === undefined) continue;
    inUse += held.length;
    given += addressesPerBlock(pool);
  }
  const needed = neededAddresses(inUse, ahead);
  return { family, free: given - inUse, spare: given - needed, needed };
}

async function ownBlocks(member: Member, pools: readonly Pool[]): Promise<Stored<Block>[]> {
  const blocks: Stored<Block>[] = [];
  for (const { value } of await readAffinities(member, pools)) {
    const block = value.state === 'confirmed' ? await readBlock(member, value) : undefined;
    if (block !== undefined) blocks.push(block);
  }
  return blocks;
}
