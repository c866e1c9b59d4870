/** Addresses that attachments use and that nobody has: those of a node that was removed, and came back. */
import type { Addr } from '@heddle/netaddr';
import { addressAt, ordinalOf, take } from './block.ts';
import { blockAround } from './block-order.ts';
import { isStrict } from './choose.ts';
import { claimExactly } from './claim.ts';
import {
  attempts,
  commitAs,
  type Member,
  presenceGuard,
  putBlock,
  read,
  readBlock,
  readCluster,
} from './member.ts';
import { type HandleRecord, handleCodec, KEYS } from './records.ts';

/** Whose addresses, and which. */
export interface RetakeRequest {
  /** As in `BlockRequest`. */
  readonly handle: string;
  /** What the attachment uses. What is in no pool is none of the cluster's, and passed over. */
  readonly addresses: readonly Addr[];
  readonly pod?: string;
}

/** What an attachment has now. */
export interface Retaken {
  /** What was taken; not what the handle had all the time. */
  readonly taken: readonly Addr[];
  /** What it uses and cannot have, and why. */
  readonly refused: readonly { readonly addr: Addr; readonly why: string }[];
}

/**
 * Takes exactly the addresses that an attachment uses already, where nobody else has them. Unlike a new address, one may
 * be taken while it rests, is reserved, or is in a pool that is disabled or not for this node any more: it is in use.
 * Each is a commit of its own; asking again takes what is missing.
 *
 * @throws {IpamError} IPAM_NODE_LOST, IPAM_BUSY
 * @throws {StoreError} as the store does
 * @example
 * const { refused } = await retakeAddresses(member, { handle: 'pods/c1/eth0', addresses: [v4, v6] });
 */
export async function retakeAddresses(
  member: Member,
  { addresses, ...whose }: RetakeRequest,
): Promise<Retaken> {
  const taken: Addr[] = [];
  const refused: { addr: Addr; why: string }[] = [];
  const what = `take the addresses of ${whose.handle} again`;
  for (const addr of addresses) {
    const outcome = await attempts(what, presenceGuard(member, what), () => retake(member, whose, addr));
    if (outcome === 'taken') taken.push(addr);
    else if (outcome !== undefined) refused.push({ addr, why: outcome.why });
  }
  return { taken, refused };
}

/** @returns nothing where the handle has the address already, and where it is in no pool */
async function retake(
  member: Member,
  { handle, pod }: Omit<RetakeRequest, 'addresses'>,
  addr: Addr,
): Promise<'taken' | { readonly why: string } | undefined> {
  const { store, node } = member;
  const key = KEYS.handle(node, handle);
  const known = await read<HandleRecord>(store, handleCodec, key);
  const before = known?.value.addresses ?? [];
  if (before.some((has) => has.addr.equals(addr))) return undefined;
  const cluster = await readCluster(member);
  const pool = cluster.pools.find(({ cidr }) => cidr.contains(addr));
  if (pool === undefined) return undefined;
  const cidr = blockAround(pool, addr);
  const { value: block, revision } =
    (await readBlock(member, { pool: pool.name, cidr })) ?? (await claimExactly(member, pool, cidr));
  const ordinal = ordinalOf(block, addr);
  const holder = block.held.find((held) => held.ordinal === ordinal);
  if (holder !== undefined) return { why: `it is held by ${holder.handle} on ${holder.node}` };
  if (block.node !== undefined && block.node !== node && isStrict(cluster)) {
    return { why: `its block ${cidr} belongs to ${block.node}, and affinity is strict` };
  }
  const after = take(block, ordinal, handle, node);
  const { sequence } = after;
  const record: HandleRecord = {
    ...(known?.value ?? { handle, node, ...(pod !== undefined && { pod }) }),
    addresses: [...before, { addr: addressAt(block, ordinal), pool: pool.name, block: cidr, sequence }],
  };
  await commitAs(
    member,
    [
      { key, revision: known?.revision ?? 0 },
      { key: KEYS.block(pool.name, cidr), revision },
    ],
    [{ put: key, value: handleCodec.encode(record) }, putBlock(after)],
  );
  return 'taken';
}
