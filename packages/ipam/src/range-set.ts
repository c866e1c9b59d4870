/**
 * Range sets: an attachment gets one address of each, from any of the set's ranges. Dual stack is two sets.
 *
 * Invariants: a set is not empty, has one family, and no address is in two ranges of the same or of different
 * sets.
 */
import type { Addr } from '@heddle/netaddr';
import { IpamError } from './ipam-error.ts';
import { capacity, type Range, type RangeConfig, resolveRange } from './range.ts';

/** Ranges that serve one address of an attachment between them. */
export type RangeSet = readonly [Range, ...Range[]];

/**
 * Fills in the defaults of all range sets and checks them, each by itself and against the others.
 *
 * @throws {IpamError} IPAM_RANGE_INVALID, naming the set by its index
 * @example
 * const [v4, v6] = resolveRangeSets([[{ subnet: Prefix.parse('10.1.2.0/24') }], [{ subnet: Prefix.parse('fd00::/64') }]]);
 */
export function resolveRangeSets(configs: readonly (readonly RangeConfig[])[]): readonly RangeSet[] {
  if (configs.length === 0) throw new IpamError('IPAM_RANGE_INVALID', 'no IP ranges specified');
  const sets = configs.map(resolveRangeSet);
  for (const [index, set] of sets.entries()) {
    const other = sets.findIndex((candidate, at) => at > index && overlap(set, candidate));
    if (other >= 0) {
      throw new IpamError('IPAM_RANGE_INVALID', `range set ${index} overlaps with ${other}`, {
        rangeSet: other,
      });
    }
  }
  return sets;
}

/** The range of a set that holds `addr`. */
export function rangeOf(set: RangeSet, addr: Addr): Range | undefined {
  return set.find((range) => range.addresses.contains(addr));
}

/** The family of a set's addresses. */
export function familyOf(set: RangeSet): 4 | 6 {
  return set[0].subnet.family;
}

/** How many addresses a set can give out. */
export function capacityOf(set: RangeSet): bigint {
  return set.reduce((sum, range) => sum + capacity(range), 0n);
}

/** A set as messages write it: `10.1.2.2-10.1.2.254,10.1.3.2-10.1.3.254`. */
export function formatRangeSet(set: RangeSet): string {
  return set.map((range) => range.addresses.toString()).join(',');
}

function resolveRangeSet(configs: readonly RangeConfig[], index: number): RangeSet {
  const fail = (why: string, hint?: string) =>
    new IpamError('IPAM_RANGE_INVALID', `invalid range set ${index}: ${why}`, {
      rangeSet: index,
      ...(hint !== undefined && { hint }),
    });
  const ranges = configs.map((config) => {
    try {
      return resolveRange(config);
    } catch (error) {
      if (error instanceof IpamError) throw fail(error.message, error.hint);
      throw error;
    }
  });
  const [first, ...rest] = ranges;
  if (first === undefined) throw fail('empty range set');
  if (rest.some((range) => range.subnet.family !== first.subnet.family)) throw fail('mixed address families');
  for (const [at, range] of ranges.entries()) {
    const other = ranges.find(
      (candidate, later) => later > at && range.addresses.overlaps(candidate.addresses),
    );
    if (other !== undefined) throw fail(`subnets ${range.addresses} and ${other.addresses} overlap`);
  }
  return [first, ...rest];
}

function overlap(a: RangeSet, b: RangeSet): boolean {
  return a.some((range) => b.some((other) => range.addresses.overlaps(other.addresses)));
}
