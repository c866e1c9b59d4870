/**
 * The VLANs of a trunk: a list of single ids and of ranges, as configurations write it, and the set that it
 * means. 802.1Q knows the ids 1 to 4094. The error texts are the reference's.
 */
import * as v from 'valibot';

/** A member of `vlanTrunk`: an id, a range, or both. */
export interface TrunkEntry {
  readonly id?: number | undefined;
  readonly minID?: number | undefined;
  readonly maxID?: number | undefined;
}

const trunkId = v.pipe(v.number(), v.metadata({ type: 'integer', minimum: 1, maximum: 4094 }));

/** A member of `vlanTrunk` that is valid. */
export const trunkEntry = v.pipe(
  v.object({
    id: v.pipe(v.optional(trunkId), v.description('one VLAN')),
    minID: v.pipe(v.optional(trunkId), v.description('the first VLAN of a range')),
    maxID: v.pipe(v.optional(trunkId), v.description('the last VLAN of a range')),
  }),
  v.check(
    (entry) => trunkProblem(entry) === undefined,
    ({ input }) => trunkProblem(input) ?? '',
  ),
  v.metadata({ dependencies: { minID: ['maxID'], maxID: ['minID'] } }),
);

/**
 * The ids that a trunk carries, ascending, each once.
 *
 * @example trunkIds([{ id: 10 }, { minID: 100, maxID: 102 }, { id: 101 }]) // [10, 100, 101, 102]
 */
export function trunkIds(entries: readonly TrunkEntry[]): readonly number[] {
  const ids = new Set<number>();
  for (const { id, minID, maxID } of entries) {
    if (id !== undefined) ids.add(id);
    if (minID === undefined || maxID === undefined) continue;
    for (let each = minID; each <= maxID; each++) ids.add(each);
  }
  return [...ids].toSorted((a, b) => a - b);
}

function trunkProblem({ id, minID, maxID }: TrunkEntry): string | undefined {
  if (minID !== undefined && maxID === undefined) return `${APART}, maxID is missing`;
  if (minID === undefined && maxID !== undefined) return `${APART}, minID is missing`;
  if (minID !== undefined && !isVlanId(minID)) return 'incorrect trunk minID parameter';
  if (maxID !== undefined && !isVlanId(maxID)) return 'incorrect trunk maxID parameter';
  if (minID !== undefined && maxID !== undefined && minID > maxID) {
    return 'minID is greater than maxID in trunk parameter';
  }
  return id !== undefined && !isVlanId(id) ? 'incorrect trunk id parameter' : undefined;
}

function isVlanId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= 4094;
}

const APART = 'minID and maxID should be configured simultaneously';
