/** Elements that a set of intervals cannot hold beside others — nft_set_rbtree.c, nft_set_pipapo.c */
import { compareBytes } from '../../nft/key-values.ts';
import { isCatchAll, isPlainInterval } from './element-items.ts';
import type { ElementRecord, SetRecord } from './records.ts';

/** Whether an element that is not in the set runs into one that is. */
export function overlaps(set: SetRecord, element: ElementRecord): boolean {
  if ((set.attributes.flags & INTERVAL) === 0 || isCatchAll(element.item)) return false;
  for (const other of set.elements.values()) {
    if (isCatchAll(other.item)) continue;
    if (isPlainInterval(set) ? meet(element, other) : fallsInto(set, element, other)) return true;
  }
  return false;
}

/** NFT_SET_INTERVAL */
const INTERVAL = 4;

/** Intervals reach from their start up to, but not including, what is behind them. */
function meet(a: ElementRecord, b: ElementRecord): boolean {
  return beginsBefore(a, b.behind) && beginsBefore(b, a.behind);
}

function beginsBefore({ item }: ElementRecord, behind: Uint8Array | undefined): boolean {
  return behind === undefined || compareBytes(keyOf(item.key), behind) < 0;
}

/** Of concatenations, the kernel only looks whether the first or the last key is in another element. */
function fallsInto(set: SetRecord, { item }: ElementRecord, other: ElementRecord): boolean {
  const first = keyOf(item.key);
  const last = item.keyEnd === undefined ? first : keyOf(item.keyEnd);
  return contains(set, other, first) || contains(set, other, last);
}

function contains({ attributes }: SetRecord, { item }: ElementRecord, key: Uint8Array): boolean {
  const first = keyOf(item.key);
  const last = item.keyEnd === undefined ? first : keyOf(item.keyEnd);
  let at = 0;
  for (const { length = 0 } of attributes.description?.fields ?? []) {
    const part = (bytes: Uint8Array) => bytes.subarray(at, at + length);
    if (compareBytes(part(key), part(first)) < 0 || compareBytes(part(key), part(last)) > 0) return false;
    at += (length + 3) & ~3;
  }
  return true;
}

function keyOf(data: ElementRecord['item']['key']): Uint8Array {
  return data?.value ?? new Uint8Array(0);
}
