/**
 * Making what stands in the store fit together again, after somebody else wrote to it. Nothing is ever freed: what one
 * side says is held, the other side is made to say as well; whether it is still used, leak detection finds out.
 */
import { type Condition, type Entry, type Store, StoreError } from '@heddle/store';
import { addressAt, type Block, ordinalOf } from './block.ts';
import { putAffinity, putBlock } from './member.ts';
import { type Affinity, affinityCodec, blockCodec, type HandleRecord, handleCodec, KEYS } from './records.ts';

/** What was mended, and what cannot be without losing something. Each in words. */
export interface Repair {
  readonly mended: readonly string[];
  readonly left: readonly string[];
}

interface Known<T> {
  readonly value: T;
  readonly at: Condition;
}

/** What was read, and what was done to it. */
interface Work {
  readonly store: Store;
  readonly blocks: readonly Known<Block>[];
  readonly handles: readonly Known<HandleRecord>[];
  readonly affinities: readonly Known<Affinity>[];
  readonly mended: string[];
  readonly left: string[];
}

/**
 * Mends what `inspectStore` has problems with, each by a commit of its own, which fails when anything that it rests on
 * was changed meanwhile.
 *
 * @throws {StoreError} as the store does; what was mended until then stays
 */
export async function repairStore(store: Store): Promise<Repair> {
  const mended: string[] = [];
  for (;;) {
    const round = await repairOnce(store);
    mended.push(...round.mended);
    // What was mended may be what something else was read with.
    if (round.mended.length === 0 || round.left.length === 0) return { mended, left: round.left };
  }
}

async function repairOnce(store: Store): Promise<Repair> {
  const { entries } = await store.list(KEYS.all);
  const below = <T>(prefix: string, decode: (entry: Entry) => T) =>
    entries
      .filter(({ key }) => key.startsWith(prefix))
      .map((entry): Known<T> => ({ value: decode(entry), at: { key: entry.key, revision: entry.revision } }));
  const work: Work = {
    store,
    blocks: below<Block>(KEYS.blocks, (entry) => blockCodec.decode(entry)),
    handles: below<HandleRecord>(KEYS.handles, (entry) => handleCodec.decode(entry)),
    affinities: below<Affinity>(KEYS.affinities, (entry) => affinityCodec.decode(entry)),
    mended: [],
    left: [],
  };
  for (const block of work.blocks) await mendBlock(work, block);
  for (const handle of work.handles) await mendHandle(work, handle);
  for (const affinity of work.affinities) await mendAffinity(work, affinity);
  return { mended: work.mended, left: work.left };
}

async function mendBlock(work: Work, { value: block, at }: Known<Block>): Promise<void> {
  const { cidr, node, pool, held } = block;
  if (node !== undefined && !work.affinities.some((each) => isOf(each.value, block))) {
    const affinity: Affinity = { node, pool, cidr, state: 'confirmed' };
    await mend(work, `affinity of ${node} for its block ${cidr}`, {
      conditions: [at, { key: KEYS.affinity(node, cidr), revision: 0 }],
      changes: [putAffinity(affinity)],
    });
  }
  for (const { ordinal, handle, node: where, sequence } of held) {
    const addr = addressAt(block, ordinal);
    if (held.filter((each) => each.ordinal === ordinal).length > 1) {
      work.left.push(`${addr} has two owners in its block ${cidr}: remove one of the two pods`);
      continue;
    }
    const key = KEYS.handle(where, handle);
    const known = work.handles.find((each) => each.at.key === key);
    if (known?.value.addresses.some((each) => each.addr.equals(addr))) continue;
    const address = { addr, pool, block: cidr, sequence };
    const record: HandleRecord = {
      ...(known?.value ?? { handle, node: where }),
      addresses: [...(known?.value.addresses ?? []), address],
    };
    await mend(work, `${addr} under its handle ${handle} of ${where}`, {
      conditions: [at, known?.at ?? { key, revision: 0 }],
      changes: [{ put: key, value: handleCodec.encode(record) }],
    });
  }
}

async function mendHandle(work: Work, { value: record, at }: Known<HandleRecord>): Promise<void> {
  const { handle, node } = record;
  for (const { addr, pool, block: cidr } of record.addresses) {
    const block = work.blocks.find((each) => each.value.pool === pool && each.value.cidr.equals(cidr));
    if (block === undefined) {
      work.left.push(`${addr} of ${handle} of ${node} is of block ${cidr}, which is not there`);
      continue;
    }
    const ordinal = ordinalOf(block.value, addr);
    const holder = block.value.held.find((each) => each.ordinal === ordinal);
    if (holder?.handle === handle && holder.node === node) continue;
    if (holder !== undefined) {
      work.left.push(`${addr} of ${handle} of ${node} is held by ${holder.handle} of ${holder.node} as well`);
      continue;
    }
    const { emptySince: _, ...rest } = block.value;
    const sequence = rest.sequence + 1;
    const addresses = record.addresses.map((each) => (each.addr.equals(addr) ? { ...each, sequence } : each));
    await mend(work, `${addr} in its block ${cidr}, for ${handle} of ${node}`, {
      conditions: [at, block.at],
      changes: [
        putBlock({
          ...rest,
          sequence,
          held: [...rest.held, { ordinal, handle, node, sequence }],
          released: rest.released.filter((each) => each.ordinal !== ordinal),
        }),
        { put: at.key, value: handleCodec.encode({ ...record, addresses }) },
      ],
    });
  }
}

async function mendAffinity(work: Work, { value: affinity, at }: Known<Affinity>): Promise<void> {
  const { cidr, node, state } = affinity;
  if (state === 'pending' || work.blocks.some((each) => isOf(affinity, each.value))) return;
  await mend(work, `no affinity of ${node} for ${cidr}, which is not its block`, {
    conditions: [at],
    changes: [{ delete: at.key }],
  });
}

async function mend(work: Work, what: string, transaction: Parameters<Store['commit']>[0]): Promise<void> {
  try {
    await work.store.commit(transaction);
    work.mended.push(what);
  } catch (error) {
    if (!StoreError.is(error, 'STORE_CONFLICT')) throw error;
    work.left.push(`${what}: it was changed meanwhile; try again`);
  }
}

function isOf(affinity: Affinity, { cidr, node, pool }: Block): boolean {
  return affinity.node === node && affinity.pool === pool && affinity.cidr.equals(cidr);
}
