/**
 * The order in which a range set gives out its addresses: upwards from the one after the last given, through
 * all ranges and around to the last given itself. An address is thus reused as late as possible, which spares
 * neighbours that still know it by its old MAC.
 *
 * A walk takes one step more than addresses are held at most, never one per address of a large range.
 */
import { Addr } from '@heddle/netaddr';
import { type RangeSet, rangeOf } from './range-set.ts';

/**
 * The next free address of a set.
 *
 * @param held the addresses that are taken, in this set or elsewhere, by their text
 * @param last the address that was given out last; one outside of the set counts as none
 * @returns `undefined` when the set is exhausted
 */
export function nextFree(
  set: RangeSet,
  held: ReadonlyMap<string, unknown>,
  last: Addr | undefined,
): Addr | undefined {
  // So many different addresses cannot all be held: the walk ends there at the latest, or where the set does.
  for (const addr of addressesFrom(set, last)) {
    if (!held.has(addr.toString())) return addr;
  }
  return undefined;
}

/** Every address that the set can give out, once, beginning after `last`. */
function* addressesFrom(set: RangeSet, last: Addr | undefined): Generator<Addr> {
  const at = last === undefined ? undefined : rangeOf(set, last);
  const start = at === undefined ? 0 : set.indexOf(at);
  const rotated = [...set.slice(start), ...set.slice(0, start)];
  for (const [turn, range] of rotated.entries()) {
    const from = turn === 0 && at !== undefined ? last?.next() : range.addresses.first;
    yield* span(from, range.addresses.last, range.gateway);
  }
  // The part of the first range that lies before where the walk began.
  if (at !== undefined) yield* span(at.addresses.first, last, at.gateway);
}

function* span(first: Addr | undefined, last: Addr | undefined, gateway: Addr | undefined): Generator<Addr> {
  if (last === undefined) return;
  for (let addr = first; addr !== undefined && Addr.compare(addr, last) <= 0; addr = addr.next()) {
    if (gateway === undefined || !addr.equals(gateway)) yield addr;
  }
}
