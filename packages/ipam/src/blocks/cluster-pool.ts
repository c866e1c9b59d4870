/** The mode `cluster-pool`: every node is kept ahead of its need with blocks of its own. */
import type { Block } from './block.ts';
import { claimBlock } from './claim.ts';
import {
  attempts,
  type Member,
  poolsFor,
  presenceGuard,
  readAffinities,
  readBlock,
  readCluster,
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

/**
 * Claims blocks until the member has what it needs of a family.
 *
 * @returns the member's blocks; fewer than needed when the pools have no more
 */
export async function keepAhead(member: Member, family: 4 | 6, ahead: Ahead): Promise<readonly Block[]> {
  const what = `keep node ${member.node} ahead of its need`;
  return attempts(what, presenceGuard(member, what), async () => {
    const cluster = await readCluster(member);
    const pools = poolsFor(member, cluster, family);
    const blocks = await ownBlocks(member, pools);
    const inUse = () => blocks.reduce((sum, { held }) => sum + held.length, 0);
    const given = () => blocks.reduce((sum, block) => sum + sizeOf(block, pools), 0);
    for (const pool of pools) {
      while (given() < neededAddresses(inUse(), ahead)) {
        const claimed = await claimBlock(member, pool, cluster.settings);
        if (claimed === undefined) break;
        blocks.push(claimed.value);
      }
    }
    return blocks;
  });
}

async function ownBlocks(member: Member, pools: readonly Pool[]): Promise<Block[]> {
  const blocks: Block[] = [];
  for (const { value } of await readAffinities(member, pools)) {
    const block = value.state === 'confirmed' ? await readBlock(member, value) : undefined;
    if (block !== undefined) blocks.push(block.value);
  }
  return blocks;
}

function sizeOf({ pool }: Block, pools: readonly Pool[]): number {
  const own = pools.find(({ name }) => name === pool);
  return own === undefined ? 0 : addressesPerBlock(own);
}
