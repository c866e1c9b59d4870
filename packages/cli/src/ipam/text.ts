/** The addresses of a cluster for people. */
import type { Inspection } from '@heddle/ipam/blocks';
import { type Column, formatTable } from '../output/table.ts';

/** What nodes have. */
export interface NodeUse {
  readonly node: string;
  readonly blocks: number;
  readonly held: number;
  /** Addresses of its own blocks that nobody holds. */
  readonly free: number;
}

/** The use of blocks, by node. */
export function usesOfNodes({ pools, handles }: Inspection): readonly NodeUse[] {
  const blocks = pools.flatMap((pool) => pool.blocks);
  const names = new Set([...blocks.flatMap(({ node }) => node ?? []), ...handles.map(({ node }) => node)]);
  return [...names].sort().map((node) => ({
    node,
    blocks: blocks.filter((block) => block.node === node).length,
    held: handles
      .filter((handle) => handle.node === node)
      .reduce((sum, { addresses }) => sum + addresses.length, 0),
    free: blocks.filter((block) => block.node === node).reduce((sum, { free }) => sum + free, 0),
  }));
}

/** As tables: pools and nodes; with blocks and handles, where those are wanted too. */
export function inspectionText(inspection: Inspection, isWide: boolean, styled: boolean): string {
  const { pools, handles, settings } = inspection;
  if (pools.length === 0) return 'no pools\n';
  const blocks = pools.flatMap(({ pool, blocks: those }) => those.map((block) => ({ pool, ...block })));
  return [
    ...(settings.mode === 'cluster-pool'
      ? [`every node has ${settings.ahead} addresses of each family besides those in use, or more\n`]
      : []),
    formatTable(POOLS, pools, styled),
    formatTable(NODES, usesOfNodes(inspection), styled),
    ...(isWide ? [formatTable(BLOCKS, blocks, styled), formatTable(HANDLES, handles, styled)] : []),
  ].join('\n');
}

const POOLS: readonly Column<Inspection['pools'][number]>[] = [
  { title: 'POOL', value: ({ pool }) => pool },
  { title: 'RANGE', value: ({ cidr }) => `${cidr}` },
  { title: 'HELD', value: ({ held }) => `${held}`, align: 'right' },
  { title: 'ADDRESSES', value: ({ addresses }) => `${addresses}`, align: 'right' },
  { title: 'BLOCKS', value: ({ blocks }) => `${blocks.length}`, align: 'right' },
  { title: 'BLOCKS FREE', value: ({ blocksFree }) => `${blocksFree}`, align: 'right' },
];

const NODES: readonly Column<NodeUse>[] = [
  { title: 'NODE', value: ({ node }) => node },
  { title: 'BLOCKS', value: ({ blocks }) => `${blocks}`, align: 'right' },
  { title: 'HELD', value: ({ held }) => `${held}`, align: 'right' },
  { title: 'FREE', value: ({ free }) => `${free}`, align: 'right' },
];

const BLOCKS: readonly Column<Inspection['pools'][number]['blocks'][number] & { readonly pool: string }>[] = [
  { title: 'BLOCK', value: ({ cidr }) => `${cidr}` },
  { title: 'POOL', value: ({ pool }) => pool },
  { title: 'NODE', value: ({ node }) => node ?? '' },
  { title: 'HELD', value: ({ held }) => `${held}`, align: 'right' },
  { title: 'BORROWED', value: ({ borrowed }) => `${borrowed}`, align: 'right' },
  { title: 'FREE', value: ({ free }) => `${free}`, align: 'right' },
];

const HANDLES: readonly Column<Inspection['handles'][number]>[] = [
  { title: 'HANDLE', value: ({ handle }) => handle },
  { title: 'NODE', value: ({ node }) => node },
  { title: 'POD', value: ({ pod }) => pod ?? '' },
  { title: 'ADDRESSES', value: ({ addresses }) => addresses.map(({ addr }) => `${addr}`).join(' ') },
];
