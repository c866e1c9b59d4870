/** Listed elements as values; the two ends of an interval become one. */
import { decode } from '@heddle/wire';
import { elementsMessage, NFT_SET_ELEM, type WireElement } from './codec/element.ts';
import { COMMENT } from './codec/userdata.ts';
import { compareBytes, decodeKey, type KeyValue, previousBytes } from './key-values.ts';
import type { Counts, ListedElement, NftFamily, NftSet } from './model.ts';
import { commented } from './read-objects.ts';
import { type SetTypes, typesOfSet } from './set-types.ts';
import type { Verdict } from './statements.ts';

/** The items in the messages of a listing. */
export function decodeItems(bodies: readonly Uint8Array[]): readonly WireElement[] {
  return bodies.flatMap((body) => decode(elementsMessage, body).attributes.elements ?? []);
}

/** The elements of `set` that these items are. */
export function elementsOf(set: NftSet, items: readonly WireElement[]): readonly ListedElement[] {
  const types = typesOfSet(set);
  const where = {
    kind: 'element',
    family: set.family as NftFamily,
    table: set.table,
    set: set.name,
  } as const;
  const plainIntervals = types.intervals && types.key.length === 1;
  const found: ListedElement[] = [];
  const give = (key: KeyValue, item: WireElement) => found.push({ ...where, key, ...contentOf(types, item) });
  const keyed: WireElement[] = [];
  for (const item of items) {
    if (((item.flags ?? 0) & NFT_SET_ELEM.CATCHALL) !== 0) give('*', item);
    else if (plainIntervals) keyed.push(item);
    else give(decodeKey(types.key, keyOf(item), item.keyEnd?.value), item);
  }
  for (const { item, last } of paired(keyed)) give(decodeKey(types.key, keyOf(item), last), item);
  return found;
}

/** The intervals: each starts at one item and ends before the next, be it an end or another start. */
function paired(
  items: readonly WireElement[],
): readonly { readonly item: WireElement; readonly last: Uint8Array }[] {
  const sorted = items.toSorted(
    (a, b) => compareBytes(keyOf(a), keyOf(b)) || Number(isEnd(b)) - Number(isEnd(a)),
  );
  return sorted.flatMap((item, index) => {
    if (isEnd(item)) return [];
    const next = sorted[index + 1];
    const last =
      next === undefined ? new Uint8Array(keyOf(item).length).fill(0xff) : previousBytes(keyOf(next));
    return [{ item, last: last ?? keyOf(item) }];
  });
}

function contentOf(types: SetTypes, item: WireElement): Partial<ListedElement> {
  const { data, object, timeout, expiration, userdata } = item;
  const counter = counterOf(item);
  return {
    ...(data?.verdict === undefined ? {} : { data: verdictOf(data.verdict) }),
    ...(data?.value === undefined || !Array.isArray(types.data)
      ? {}
      : { data: decodeKey(types.data, data.value) }),
    ...(object === undefined ? {} : { data: object }),
    ...(timeout === undefined ? {} : { timeout: Number(timeout) }),
    ...(expiration === undefined ? {} : { expires: Number(expiration) }),
    ...(counter === undefined ? {} : { counter }),
    ...commented(userdata, COMMENT),
  };
}

function verdictOf({
  code = 0,
  chain,
}: {
  readonly code?: number | string;
  readonly chain?: string;
}): Verdict {
  return { kind: 'verdict', verdict: code, ...(chain === undefined ? {} : { chain }) } as Verdict;
}

function counterOf({ expression, expressions = [] }: WireElement): Counts | undefined {
  for (const each of expression === undefined ? expressions : [expression]) {
    if (each.expr === 'counter') return { packets: each.packets ?? 0n, bytes: each.bytes ?? 0n };
  }
  return undefined;
}

function keyOf(item: WireElement): Uint8Array {
  return item.key?.value ?? new Uint8Array(0);
}

function isEnd(item: WireElement): boolean {
  return ((item.flags ?? 0) & NFT_SET_ELEM.INTERVAL_END) !== 0;
}
