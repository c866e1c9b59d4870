/** Giving addresses back. */
import type { Addr } from '@heddle/netaddr';
import type { Change, Condition, Revision } from '@heddle/store';
import { type Block, giveBack, ordinalOf } from './block.ts';
import { attempts, type Guard, type Member, putBlock, read, readBlock, type Stored } from './member.ts';
import { type HandleRecord, handleCodec, KEYS } from './records.ts';

/** What must be so for a handle to be released. */
export interface ReleaseOptions {
  /** Nothing newer than this sequence number is given back: a late release does not hit a successor. */
  readonly upTo?: number;
  /** Only what this very commit wrote is given back. */
  readonly writtenAt?: Revision;
  /** The node where the handle's addresses are; the member's own by default. */
  readonly node?: string;
  /** What must hold besides, and the error for when it does not. */
  readonly guard?: Guard & Condition;
  readonly signal?: AbortSignal;
}

/**
 * Gives back all addresses of a handle, in one commit. A handle without addresses is released already.
 *
 * @returns the addresses that were given back
 * @throws {IpamError} IPAM_BUSY
 * @throws {StoreError} as the store does; what was not given back then still stands under the handle
 */
export function releaseHandle(
  member: Member,
  handle: string,
  options: ReleaseOptions = {},
): Promise<readonly Addr[]> {
  const { node = member.node, upTo = Infinity, writtenAt, guard, signal } = options;
  const key = KEYS.handle(node, handle);
  const release = async () => {
    const known = await read<HandleRecord>(member.store, handleCodec, key);
    if (known === undefined || (writtenAt !== undefined && known.revision !== writtenAt)) return [];
    if (known.value.addresses.some(({ sequence }) => sequence > upTo)) return [];
    const { when, changes } = await plan(member, known);
    await member.store.commit({
      conditions: [
        { key, revision: known.revision },
        ...when,
        ...(guard === undefined ? [] : [{ key: guard.key, revision: guard.revision }]),
      ],
      changes: [{ delete: key }, ...changes],
    });
    return known.value.addresses.map(({ addr }) => addr);
  };
  // Without the member's presence: giving back is allowed to those that were taken for dead, too.
  return attempts(`release ${handle}`, guard, release, signal);
}

async function plan(
  member: Member,
  { value: { handle, addresses } }: Stored<HandleRecord>,
): Promise<{ readonly when: readonly Condition[]; readonly changes: readonly Change[] }> {
  const blocks = new Map<string, Stored<Block>>();
  const before = new Map<string, Block>();
  for (const { addr, pool, block: cidr, sequence } of addresses) {
    const key = KEYS.block(pool, cidr);
    // Several addresses of one handle may be of one block.
    const block = blocks.get(key) ?? (await readBlock(member, { pool, cidr }));
    if (block === undefined) continue;
    if (!before.has(key)) before.set(key, block.value);
    const ordinal = ordinalOf(block.value, addr);
    const value = giveBack(block.value, { ordinal, handle, sequence }, member.now());
    blocks.set(key, { value, revision: block.revision });
  }
  const changed = [...blocks].filter(([key, { value }]) => value !== before.get(key));
  return {
    when: changed.map(([key, { revision }]) => ({ key, revision })),
    changes: changed.map(([, { value }]) => putBlock(value)),
  };
}
