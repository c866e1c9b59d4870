/** One block: some consecutive addresses of a pool, and who holds which. A value; every change makes another one. */
import { type Addr, AddrError, type Prefix } from '@heddle/netaddr';
import { addressesPerBlock, isReserved, type Pool } from './pool.ts';

/** An address that is held. */
export interface Held {
  /** Its place in the block. */
  readonly ordinal: number;
  readonly handle: string;
  /** The node where the holder is; another one than the block's when it was borrowed. */
  readonly node: string;
  /** Tells this holder from all that had the address before, and will after. */
  readonly sequence: number;
}

/** An address that was given back. */
export interface Released {
  readonly ordinal: number;
  /** When, in milliseconds since the epoch, by the clock of the node that gave it back. */
  readonly at: number;
}

/** See the file's comment. */
export interface Block {
  readonly cidr: Prefix;
  readonly pool: string;
  /** The node that routes it and gives from it; without one, others may take it over. */
  readonly node?: string;
  /** The largest sequence number so far. It never exceeds the store's revision, so a block made anew continues it. */
  readonly sequence: number;
  /** Since when nobody has held an address, in milliseconds since the epoch. */
  readonly emptySince?: number;
  readonly held: readonly Held[];
  /** Those that were given back and not given again, oldest first. */
  readonly released: readonly Released[];
}

/** When an address may be given. */
export interface Moment {
  /** How many milliseconds ago something was; negative for what is to come. */
  readonly age: (at: number) => number;
  /** How long an address rests after it was given back, in milliseconds. */
  readonly coolDown: number;
}

/** A block that nobody has used. @param revision the store's, when the block was seen to be missing */
export function emptyBlock(pool: Pool, cidr: Prefix, revision: number, now: number): Block {
  return { cidr, pool: pool.name, sequence: revision, emptySince: now, held: [], released: [] };
}

/** The address at a place. */
export function addressAt({ cidr }: Block, ordinal: number): Addr {
  const addr = cidr.network.add(ordinal);
  if (addr === undefined || !cidr.contains(addr)) throw new AddrError(`${cidr} has no address ${ordinal}`);
  return addr;
}

/** The place of an address. */
export function ordinalOf({ cidr }: Block, addr: Addr): number {
  return Number(cidr.network.distance(addr));
}

/**
 * The place that is to be given next: one that nobody ever had, else the one that was given back first and has
 * rested; `undefined` for none.
 */
export function nextFree(block: Block, pool: Pool, moment: Moment): number | undefined {
  const size = addressesPerBlock(pool);
  if (block.held.length >= size) return undefined;
  const used = new Set([...block.held, ...block.released].map(({ ordinal }) => ordinal));
  for (let ordinal = 0; ordinal < size; ordinal++) {
    if (!used.has(ordinal) && !isReserved(pool, addressAt(block, ordinal))) return ordinal;
  }
  const rested = block.released.find(
    (released) => hasRested(released, moment) && !isReserved(pool, addressAt(block, released.ordinal)),
  );
  return rested?.ordinal;
}

/** Whether a certain place can be given. */
export function isFree(block: Block, ordinal: number, moment: Moment): boolean {
  if (block.held.some((held) => held.ordinal === ordinal)) return false;
  const released = block.released.find((each) => each.ordinal === ordinal);
  return released === undefined || hasRested(released, moment);
}

/** The block after somebody took a place, which has the block's new sequence number. */
export function take(block: Block, ordinal: number, handle: string, node: string): Block {
  const { emptySince: _, ...rest } = block;
  const sequence = block.sequence + 1;
  return {
    ...rest,
    sequence,
    held: [...block.held, { ordinal, handle, node, sequence }],
    released: block.released.filter((released) => released.ordinal !== ordinal),
  };
}

/** The block after a holder gave its place back; the same one when it does not hold it (any more). */
export function giveBack(
  block: Block,
  holder: Pick<Held, 'ordinal' | 'handle' | 'sequence'>,
  now: number,
): Block {
  const { ordinal, handle, sequence } = holder;
  const held = block.held.filter(
    (each) => each.ordinal !== ordinal || each.handle !== handle || each.sequence !== sequence,
  );
  if (held.length === block.held.length) return block;
  return {
    ...block,
    ...(held.length === 0 && { emptySince: now }),
    held,
    released: [...block.released, { ordinal, at: now }],
  };
}

/** Whether nobody has held an address of the block for some milliseconds, and none needs to rest. */
export function isIdleFor(block: Block, duration: number, moment: Moment): boolean {
  const { emptySince } = block;
  return emptySince !== undefined && moment.age(emptySince) >= duration && isIdle(block, moment);
}

/** Whether the block can go: nobody holds an address, and none needs to rest. */
function isIdle(block: Block, moment: Moment): boolean {
  return block.held.length === 0 && block.released.every((released) => hasRested(released, moment));
}

/** A moment to come is of a clock that was set back since: it says nothing, and nobody waits for it. */
function hasRested({ at }: Released, { age, coolDown }: Moment): boolean {
  const rested = age(at);
  return rested >= coolDown || rested < 0;
}
