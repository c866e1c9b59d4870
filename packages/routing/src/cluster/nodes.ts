/** The nodes of a cluster, as the store has them. */
import { type Member, removeNode } from '@heddle/ipam/blocks';
import { type Store, StoreError } from '@heddle/store';
import { RoutingError } from '../routing-error.ts';
import { type MemberRecord, memberCodec, NODE_KEYS, type NodeRecord, nodeCodec } from './records.ts';

/** A node that has joined: alive when it has a record. */
export interface NodeEntry {
  readonly name: string;
  readonly member?: MemberRecord;
  readonly record?: NodeRecord;
}

/**
 * All nodes that joined and have not left, in the order of their names.
 *
 * @throws {StoreError} as the store does; STORE_VALUE_INVALID for a record that is none
 */
export async function listNodes(store: Store): Promise<readonly NodeEntry[]> {
  const nodes = new Map<string, NodeEntry>();
  for (const entry of (await store.list(NODE_KEYS.members)).entries) {
    const member = memberCodec.decode(entry);
    nodes.set(member.name, { name: member.name, member });
  }
  for (const entry of (await store.list(NODE_KEYS.nodes)).entries) {
    const record = nodeCodec.decode(entry);
    nodes.set(record.name, { ...nodes.get(record.name), name: record.name, record });
  }
  return [...nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Takes everything from a node that is gone, its addresses and blocks, and forgets it, without waiting for the grace to
 * pass. What a node that comes back in the middle still has, it keeps.
 *
 * @throws {RoutingError} NODE_ALIVE when it is not gone, NODE_UNKNOWN when it never joined or has left
 * @throws {IpamError} IPAM_NODE_ALIVE when it comes back meanwhile
 */
export async function removeGoneNode(member: Member, name: string): Promise<void> {
  const { store } = member;
  const key = NODE_KEYS.node(name);
  if ((await store.get(key)) !== undefined) {
    throw new RoutingError('NODE_ALIVE', `node ${name} is in the cluster, and alive`, {
      hint: `let it leave, or stop it and wait for its lease to run out`,
    });
  }
  const membership = await store.get(NODE_KEYS.member(name));
  if (membership === undefined) {
    throw new RoutingError('NODE_UNKNOWN', `node ${name} is not in the cluster`);
  }
  const gone = { key, revision: 0 };
  await removeNode(member, name, gone);
  try {
    await store.commit({
      conditions: [gone, { key: membership.key, revision: membership.revision }],
      changes: [{ delete: membership.key }],
    });
  } catch (error) {
    // Somebody else who saw it gone was faster, or it is back: either way there is nothing left to forget.
    if (!StoreError.is(error, 'STORE_CONFLICT')) throw error;
  }
}
