/** A cluster as the store has it, as large as is asked for, without anybody in it. */
import {
  type Affinity,
  affinityCodec,
  type Block,
  blockCodec,
  KEYS,
  poolCodec,
  resolvePool,
} from '@heddle/ipam/blocks';
import { Addr, Prefix } from '@heddle/netaddr';
import type { Change, Store } from '@heddle/store';
import { memberCodec, NODE_KEYS, type NodeRecord, nodeCodec } from '../cluster/records.ts';
import { tunnelMac } from '../cluster/tunnel.ts';

const BLOCK_SIZE = 64;

/** What such a cluster is like. */
export interface LargeCluster {
  readonly nodes: number;
  readonly podsPerNode: number;
}

/** Fills a store: a pool, and for every node its record, its membership, its blocks and their addresses. */
export async function fillStore(store: Store, { nodes, podsPerNode }: LargeCluster): Promise<void> {
  const pool = resolvePool({ name: 'v4', cidr: Prefix.parse('10.0.0.0/8'), encapsulation: 'always' });
  await putAll(store, [{ put: KEYS.pool(pool.name), value: poolCodec.encode(pool) }]);
  for (let index = 0; index < nodes; index++) {
    await putAll(store, [...changesOf(index, podsPerNode)]);
  }
}

/** What is otherwise than usual about a node. */
export interface NodeVariant {
  readonly mtu?: number;
  /** Whether it has another address between nodes than at first. */
  readonly hasMoved?: boolean;
}

/** The changes that make a node: the first is its record's, all others are the same for every variant. */
export function changesOf(index: number, podsPerNode: number, variant: NodeVariant = {}): readonly Change[] {
  const name = nameOf(index);
  const { mtu = 1500, hasMoved = false } = variant;
  const record: NodeRecord = {
    ...{ name, instance: name, labels: {}, version: '1', since: 0, mtu },
    underlay: [Prefix.of(offset('172.16.0.2', index + (hasMoved ? FAR : 0)), 12)],
    tunnel: { mac: tunnelMac(name), addresses: [blockOf(index, podsPerNode, 0).cidr.addr] },
  };
  const changes: Change[] = [
    { put: NODE_KEYS.node(name), value: nodeCodec.encode(record) },
    { put: NODE_KEYS.member(name), value: memberCodec.encode({ name, instance: name, joined: 0 }) },
  ];
  for (let ordinal = 0; ordinal < blocksOf(podsPerNode); ordinal++) {
    changes.push(...having(name, blockOf(index, podsPerNode, ordinal)));
  }
  return changes;
}

/** The changes by which a node's last block becomes another's. */
export function blockMoves(from: number, to: number, podsPerNode: number): readonly Change[] {
  const block = blockOf(from, podsPerNode, blocksOf(podsPerNode) - 1);
  const others = having(nameOf(to), { ...block, node: nameOf(to), held: [] });
  return [{ delete: KEYS.affinity(nameOf(from), block.cidr) }, ...others];
}

/** The change by which a node has a pod less. */
export function podGoes(index: number, podsPerNode: number): readonly Change[] {
  const block = blockOf(index, podsPerNode, 0);
  return [
    { put: KEYS.block('v4', block.cidr), value: blockCodec.encode({ ...block, held: block.held.slice(1) }) },
  ];
}

/** The changes by which a node goes that was made by {@link changesOf}. */
export function nodeLeaves(index: number, podsPerNode: number): readonly Change[] {
  return changesOf(index, podsPerNode).flatMap((change) => ('put' in change ? [{ delete: change.put }] : []));
}

/** Farther than there are nodes. */
const FAR = 100_000;

function nameOf(index: number): string {
  return `n${index}`;
}

/** One address besides those of the pods is the overlay device's. */
function blocksOf(podsPerNode: number): number {
  return Math.ceil((podsPerNode + 1) / BLOCK_SIZE);
}

function blockOf(index: number, podsPerNode: number, ordinal: number): Block {
  const node = nameOf(index);
  const first = offset('10.0.0.0', (index * blocksOf(podsPerNode) + ordinal) * BLOCK_SIZE);
  const count = Math.min(BLOCK_SIZE, podsPerNode + 1 - ordinal * BLOCK_SIZE);
  return {
    ...{ cidr: Prefix.of(first, 26), pool: 'v4', node, sequence: count, released: [] },
    held: Array.from({ length: count }, (_, at) => {
      return { ordinal: at, handle: `pods.${node}-${ordinal}-${at}.eth0`, node, sequence: at + 1 };
    }),
  };
}

function having(node: string, block: Block): readonly Change[] {
  const affinity: Affinity = { node, pool: 'v4', cidr: block.cidr, state: 'confirmed' };
  return [
    { put: KEYS.affinity(node, block.cidr), value: affinityCodec.encode(affinity) },
    { put: KEYS.block('v4', block.cidr), value: blockCodec.encode(block) },
  ];
}

async function putAll(store: Store, changes: readonly Change[]): Promise<void> {
  await store.commit({ changes });
}

function offset(from: string, by: number): Addr {
  return Addr.parse(from).add(by) ?? Addr.ZERO4;
}
