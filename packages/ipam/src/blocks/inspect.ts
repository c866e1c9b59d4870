/** What stands in the store, at one moment: how full everything is, and what does not fit together. */
import type { Prefix } from '@heddle/netaddr';
import type { Store } from '@heddle/store';
import { addressAt, type Block } from './block.ts';
import { addressesPerBlock, blocksOf, type Pool } from './pool.ts';
import {
  type Affinity,
  affinityCodec,
  blockCodec,
  DEFAULT_SETTINGS,
  type HandleRecord,
  handleCodec,
  type IpamSettings,
  KEYS,
  poolCodec,
  settingsCodec,
} from './records.ts';

/** How full a pool is. */
export interface PoolUse {
  readonly pool: string;
  readonly cidr: Prefix;
  /** All addresses of the pool. */
  readonly addresses: bigint;
  readonly held: number;
  readonly blocks: readonly BlockUse[];
  readonly blocksFree: bigint;
}

/** How full a block is. */
export interface BlockUse {
  readonly cidr: Prefix;
  readonly node?: string;
  readonly held: number;
  /** How many of those by nodes that the block does not belong to. */
  readonly borrowed: number;
  readonly free: number;
}

/** What {@link inspectStore} finds. */
export interface Inspection {
  readonly settings: IpamSettings;
  readonly pools: readonly PoolUse[];
  readonly handles: readonly HandleRecord[];
  /** What does not fit together, in words; there is none unless somebody else wrote to the store. */
  readonly problems: readonly string[];
}

/** Looks at everything that address management keeps in a store. Changes nothing. */
export async function inspectStore(store: Store): Promise<Inspection> {
  const { entries } = await store.list(KEYS.all);
  const below = (prefix: string) => entries.filter(({ key }) => key.startsWith(prefix));
  const pools = below(KEYS.pools).map((entry) => poolCodec.decode(entry));
  const blocks: readonly Block[] = below(KEYS.blocks).map((entry) => blockCodec.decode(entry));
  const affinities = below(KEYS.affinities).map((entry) => affinityCodec.decode(entry));
  const handles = below(KEYS.handles).map((entry) => handleCodec.decode(entry));
  const [settings] = below(KEYS.settings).map((entry) => settingsCodec.decode(entry));
  return {
    settings: settings ?? DEFAULT_SETTINGS,
    pools: pools.map((pool) => useOf(pool, blocks)),
    handles,
    problems: [
      ...problemsOfHandles(blocks, handles),
      ...problemsOfBlocks(blocks, handles, affinities, pools),
    ],
  };
}

function useOf(pool: Pool, all: readonly Block[]): PoolUse {
  const blocks = all.filter((block) => block.pool === pool.name);
  const size = addressesPerBlock(pool);
  return {
    pool: pool.name,
    cidr: pool.cidr,
    addresses: pool.cidr.size(),
    held: blocks.reduce((sum, { held }) => sum + held.length, 0),
    blocks: blocks.map(({ cidr, node, held }) => ({
      cidr,
      ...(node !== undefined && { node }),
      held: held.length,
      borrowed: held.filter((each) => each.node !== node).length,
      free: size - held.length,
    })),
    blocksFree: blocksOf(pool) - BigInt(blocks.length),
  };
}

function problemsOfHandles(blocks: readonly Block[], handles: readonly HandleRecord[]): readonly string[] {
  const held = new Set(blocks.flatMap((block) => block.held.map((each) => holding(block, each))));
  return handles.flatMap(({ handle, node, addresses }) =>
    addresses
      .filter(({ addr, sequence }) => !held.has(`${addr} ${handle} ${node} ${sequence}`))
      .map(({ addr }) => `handle ${handle} of ${node} names ${addr}, which its block does not say it holds`),
  );
}

function problemsOfBlocks(
  blocks: readonly Block[],
  handles: readonly HandleRecord[],
  affinities: readonly Affinity[],
  pools: readonly Pool[],
): readonly string[] {
  const named = new Set(
    handles.flatMap(({ handle, node, addresses }) =>
      addresses.map(({ addr, sequence }) => `${addr} ${handle} ${node} ${sequence}`),
    ),
  );
  const problems: string[] = [];
  const confirmed = new Set<string>();
  for (const { node, cidr, state } of affinities) if (state !== 'pending') confirmed.add(`${node} ${cidr}`);
  for (const block of blocks) {
    const { cidr, node, held, pool } = block;
    if (!pools.some(({ name }) => name === pool))
      problems.push(`block ${cidr} is of pool ${pool}, which is not there`);
    for (const each of held) {
      if (!named.has(holding(block, each))) {
        const addr = addressAt(block, each.ordinal);
        problems.push(`${addr} is held by ${each.handle} of ${each.node}, which has no handle`);
      }
    }
    if (new Set(held.map(({ ordinal }) => ordinal)).size < held.length) {
      problems.push(`block ${cidr} has an address with two owners`);
    }
    if (node !== undefined && !confirmed.delete(`${node} ${cidr}`)) {
      problems.push(`block ${cidr} is of ${node}, which has no affinity for it`);
    }
  }
  for (const left of confirmed) problems.push(`there is an affinity without a block: ${left}`);
  return problems;
}

function holding(block: Block, { ordinal, handle, node, sequence }: Block['held'][number]): string {
  return `${addressAt(block, ordinal)} ${handle} ${node} ${sequence}`;
}
