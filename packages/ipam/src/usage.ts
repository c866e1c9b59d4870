import type { Addr } from '@heddle/netaddr';
import { capacityOf, type RangeSet, rangeOf } from './range-set.ts';

/** How full a range set is, in addresses. */
export interface Usage {
  /** What it can give out, gateways not counted. */
  readonly size: bigint;
  /** How much of that is held. */
  readonly used: bigint;
  readonly free: bigint;
}

/**
 * How full a range set is.
 *
 * @param held the addresses that are held; those outside of the set do not count, nor does a gateway's
 * @example measure(set, store.list().map(({ addr }) => addr)).free; // 251n
 */
export function measure(set: RangeSet, held: Iterable<Addr>): Usage {
  const size = capacityOf(set);
  let used = 0n;
  for (const addr of held) {
    const range = rangeOf(set, addr);
    if (range !== undefined && !range.gateway?.equals(addr)) used++;
  }
  return { size, used, free: size - used };
}
