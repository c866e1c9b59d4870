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

/** The changes that make a node. */
export function changesOf(index: number, podsPerNode: number, mtu = 1500): readonly Change[] {
  const name = `n${index}`;
  const blocks = Math.ceil((podsPerNode + 1) / BLOCK_SIZE);
  const first = offset('10.0.0.0', index * blocks * BLOCK_SIZE);
  const record: NodeRecord = {
    ...{ name, instance: name, labels: {}, version: '1', since: 0, mtu },
    underlay: [Prefix.of(offset('172.16.0.2', index), 12)],
    tunnel: { mac: tunnelMac(name), addresses: [first] },
  };
  const member = { name, instance: name, joined: 0 };
  const changes: Change[] = [
    { put: NODE_KEYS.node(name), value: nodeCodec.encode(record) },
    { put: NODE_KEYS.member(name), value: memberCodec.encode(member) },
  ];
  for (let block = 0; block < blocks; block++) {
    const cidr = Prefix.of(offset(`${first}`, block * BLOCK_SIZE), 26);
    const held = Math.min(BLOCK_SIZE, podsPerNode + 1 - block * BLOCK_SIZE);
    const affinity: Affinity = { node: name, pool: 'v4', cidr, state: 'confirmed' };
    const value: Block = {
      ...{ cidr, pool: 'v4', node: name, sequence: held, released: [] },
      held: Array.from({ length: held }, (_, ordinal) => {
        return {
          ordinal,
          handle: `pods.${name}-${block}-${ordinal}.eth0`,
          node: name,
          sequence: ordinal + 1,
        };
      }),
    };
    changes.push({ put: KEYS.affinity(name, cidr), value: affinityCodec.encode(affinity) });
    changes.push({ put: KEYS.block('v4', cidr), value: blockCodec.encode(value) });
  }
  return changes;
}

async function putAll(store: Store, changes: readonly Change[]): Promise<void> {
  await store.commit({ changes });
}

function offset(from: string, by: number): Addr {
  return Addr.parse(from).add(by) ?? Addr.ZERO4;
}
