/** The nodes of a cluster, as its store has them. */
import { inspectStore } from '@heddle/ipam/blocks';
import { listNodes, type NodeEntry } from '@heddle/routing';
import type { Store } from '@heddle/store';
import { formatAge } from '../output/age.ts';
import { formatTable } from '../output/table.ts';

/** A node as `-o json` prints it. */
export interface NodeJson {
  readonly name: string;
  /** `gone`: it has joined and not left, and has not been heard of. */
  readonly state: 'alive' | 'gone';
  readonly addresses: readonly string[];
  readonly mtu: number | null;
  readonly blocks: readonly { readonly cidr: string; readonly pool: string; readonly held: number }[];
  readonly labels: Readonly<Record<string, string>>;
  readonly version: string | null;
  readonly joined: string | null;
  readonly goneSince: string | null;
}

/** All nodes, with their blocks. */
export async function nodesOf(store: Store): Promise<readonly NodeJson[]> {
  const { pools } = await inspectStore(store);
  const blocks = pools.flatMap(({ pool, blocks: all }) => all.map((block) => ({ ...block, pool })));
  return (await listNodes(store)).map((entry) => ({
    ...stateOf(entry),
    blocks: blocks
      .filter(({ node }) => node === entry.name)
      .map(({ cidr, pool, held }) => ({ cidr: `${cidr}`, pool, held })),
  }));
}

function stateOf({ name, record, member }: NodeEntry): Omit<NodeJson, 'blocks'> {
  return {
    name,
    state: record === undefined ? 'gone' : 'alive',
    addresses: record?.underlay.map(String) ?? [],
    mtu: record?.mtu ?? null,
    labels: record?.labels ?? {},
    version: record?.version ?? null,
    joined: timeOf(member?.joined ?? record?.since),
    goneSince: timeOf(member?.gone),
  };
}

function timeOf(milliseconds: number | undefined): string | null {
  return milliseconds === undefined ? null : new Date(milliseconds).toISOString();
}

/** The nodes for people. */
export function nodesText(nodes: readonly NodeJson[], now: number, styled: boolean): string {
  const age = (time: string | null) => (time === null ? '' : formatAge(now - Date.parse(time)));
  return formatTable(
    [
      { title: 'NODE', value: ({ name }: NodeJson) => name },
      {
        title: 'STATE',
        value: ({ state, goneSince }) => (goneSince === null ? state : `gone for ${age(goneSince)}`),
      },
      { title: 'ADDRESSES', value: ({ addresses }) => addresses.join(' ') },
      { title: 'MTU', value: ({ mtu }) => `${mtu ?? ''}`, align: 'right' },
      { title: 'BLOCKS', value: ({ blocks }) => blocks.map(({ cidr }) => cidr).join(' ') },
      {
        title: 'HELD',
        value: ({ blocks }) => `${blocks.reduce((sum, { held }) => sum + held, 0)}`,
        align: 'right',
      },
      { title: 'VERSION', value: ({ version }) => version ?? '' },
      { title: 'JOINED', value: ({ joined }) => age(joined), align: 'right' },
    ],
    nodes,
    styled,
  );
}
