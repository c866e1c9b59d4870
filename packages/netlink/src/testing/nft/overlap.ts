/** Elements that a set of intervals cannot hold beside others — nft_set_rbtree.c, nft_set_pipapo.c */
import { NFT_SET } from '../../nft/codec/set.ts';
import { compareBytes } from '../../nft/key-values.ts';
import { elementKey, isCatchAll, isEnd, isPlainInterval } from './element-items.ts';
import type { ElementRecord, SetRecord } from './records.ts';

/** Whether an element that is not in the set runs into one that is. */
export function overlaps(set: SetRecord, element: ElementRecord): boolean {
  if ((set.attributes.flags & NFT_SET.INTERVAL) === 0 || isCatchAll(element)) return false;
  const others = [...set.elements.values()].filter((other) => !isCatchAll(other));
  if (isPlainInterval(set)) return meetsNeighbour(set, element, others);
  return others.some((other) => fallsInto(set, element, other));
}

/**
 * Of plain intervals, the kernel only looks at the nearest starts and ends around the new one: a start must not
 * come behind a start, nor an end behind or before an end.
 */
function meetsNeighbour(set: SetRecord, element: ElementRecord, others: readonly ElementRecord[]): boolean {
  const sorted = others.toSorted(
    (a, b) => compareBytes(keyOf(a.key), keyOf(b.key)) || Number(isEnd(b)) - Number(isEnd(a)),
  );
  const order = (other: ElementRecord) => compareBytes(keyOf(other.key), keyOf(element.key));
  // What is behind an end with the same key does not matter any more.
  const below = sorted.findLast((other) => order(other) < 0 || (order(other) === 0 && isEnd(other)));
  const above = sorted.find((other) => order(other) > 0 || (order(other) === 0 && !isEnd(other)));
  const isAnonymous = (set.attributes.flags & NFT_SET.ANONYMOUS) !== 0;
  if (!isEnd(element)) return !isAnonymous && below !== undefined && !isEnd(below);
  return (below !== undefined && isEnd(below)) || (above !== undefined && isEnd(above));
}

/** Of concatenations, the kernel only looks whether the first or the last key is in another element. */
function fallsInto(set: SetRecord, { key, keyEnd }: ElementRecord, other: ElementRecord): boolean {
  return contains(set, other, keyOf(key)) || contains(set, other, keyOf(keyEnd ?? key));
}

/**
 * The element that a key stands for when it is deleted or asked for. Among concatenations of intervals, that is the
 * oldest one that contains the first key: it need not be the very one.
 */
export function elementFor(set: SetRecord, wanted: ElementRecord): ElementRecord | undefined {
  const isIntervals = (set.attributes.flags & NFT_SET.INTERVAL) !== 0;
  if (!isIntervals || isPlainInterval(set) || isCatchAll(wanted)) return set.elements.get(elementKey(wanted));
  const key = keyOf(wanted.key);
  return [...set.elements.values()].find((each) => !isCatchAll(each) && contains(set, each, key));
}

function contains(
  { attributes }: SetRecord,
  { key: start, keyEnd }: ElementRecord,
  key: Uint8Array,
): boolean {
  const [first, last] = [keyOf(start), keyOf(keyEnd ?? start)];
  let at = 0;
  for (const { length = 0 } of attributes.description?.fields ?? []) {
    const part = (bytes: Uint8Array) => bytes.subarray(at, at + length);
    if (compareBytes(part(key), part(first)) < 0 || compareBytes(part(key), part(last)) > 0) return false;
    at += (length + 3) & ~3;
  }
  return true;
}

function keyOf(data: ElementRecord['key']): Uint8Array {
  return data?.value ?? new Uint8Array(0);
}
