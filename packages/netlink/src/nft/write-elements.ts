/** Elements of sets as messages: intervals become pairs, many elements several messages. */
import { encode } from '@heddle/wire';
import { elementList, elementsMessage, NFT_SET_ELEM, type WireElementInput } from './codec/element.ts';
import { verdictData } from './compile.ts';
import { encodeKey, formatKey, type KeyValue, nextBytes } from './key-values.ts';
import type { NftElement, NftFamily } from './model.ts';
import { NftError } from './nft-error.ts';
import type { SetTypes } from './set-types.ts';
import { isVerdict } from './statements.ts';
import { encodeComment } from './write-objects.ts';

/** An element as one or, for the interval of a plain key, two items of a message. */
export type WireItems = readonly WireElementInput[];

/** What an element says beside its set. */
export type ElementContent = Pick<NftElement, 'key' | 'data' | 'comment' | 'timeout' | 'counter'>;

/**
 * An element for the kernel. To delete one, its key is enough.
 *
 * @throws {NftError} when key or data are not of the set's types
 */
export function encodeElement(
  types: SetTypes,
  content: ElementContent,
  purpose: 'add' | 'delete',
): WireItems {
  const value = purpose === 'add' ? contentOf(types, content) : {};
  if (content.key === '*') return [{ flags: NFT_SET_ELEM.CATCHALL, ...value }];
  const { start, end } = encodeKey(types.key, content.key);
  if (!types.intervals) {
    if (end !== undefined) throw new NftError(`${formatKey(content.key)} in a set without intervals`);
    return [{ key: { value: start }, ...value }];
  }
  if (types.key.length > 1) {
    return [{ key: { value: start }, ...(end === undefined ? {} : { keyEnd: { value: end } }), ...value }];
  }
  // The end is the first key that is not in the interval; one that reaches up to the last key has none.
  const behind = nextBytes(end ?? start);
  const first = { key: { value: start }, ...value };
  if (behind === undefined) return [first];
  return [first, { flags: NFT_SET_ELEM.INTERVAL_END, key: { value: behind } }];
}

/** The place of a set, and what its elements are sent under. */
export interface ElementTarget {
  readonly family: NftFamily;
  readonly table: string;
  readonly set: string;
  /** The set's number in the batch, for one without name. */
  readonly setId?: number;
}

/** The body of NEWSETELEM or DELSETELEM. */
export function encodeElements(target: ElementTarget, items: WireItems): Uint8Array {
  const { family, table, set, setId } = target;
  return encode(elementsMessage, { family, attributes: { table, set, setId, elements: items } });
}

/**
 * Which of the elements, whose items a message holds, lies at this offset behind the message's header;
 * `undefined` where none does.
 */
export function elementAt(
  target: ElementTarget,
  elements: readonly WireItems[],
  offset: number,
): number | undefined {
  let at = encodeElements(target, []).length;
  for (const [index, items] of elements.entries()) {
    at += encode(elementList, items).length;
    if (offset < at) return index;
  }
  return undefined;
}

/** How many of `elements`, from `from` on, fit into one message, whose list of elements holds 65535 bytes. */
export function fitting(elements: readonly WireItems[], from: number): number {
  let bytes = 0;
  let count = 0;
  for (let index = from; index < elements.length; index++) {
    for (const item of elements[index] ?? []) bytes += upperBound(item);
    if (bytes > LIST_BYTES && count > 0) break;
    count++;
  }
  return count;
}

const LIST_BYTES = 60_000;

/** More than the item takes: attribute headers, numbers and padding come to less than 160 bytes. */
function upperBound({ key, keyEnd, data, userdata }: WireElementInput): number {
  const chain = data?.verdict?.chain?.length ?? 0;
  const values = (key?.value?.length ?? 0) + (keyEnd?.value?.length ?? 0) + (data?.value?.length ?? 0);
  return 160 + values + 4 * chain + (userdata?.length ?? 0);
}

function contentOf(
  types: SetTypes,
  { key, data, comment, timeout, counter }: ElementContent,
): WireElementInput {
  return {
    ...(timeout === undefined ? {} : { timeout: BigInt(timeout) }),
    ...dataOf(types, key, data),
    ...(comment === undefined ? {} : { userdata: encodeComment(comment) }),
    ...(counter === undefined
      ? {}
      : { expression: { expr: 'counter', ...(counter === true ? { bytes: 0n, packets: 0n } : counter) } }),
  };
}

function dataOf(types: SetTypes, key: KeyValue, data: NftElement['data']): WireElementInput {
  if (types.data === undefined) {
    if (data !== undefined) throw new NftError(`element ${formatKey(key)} of a set has no data`);
    return {};
  }
  if (data === undefined) throw new NftError(`element ${formatKey(key)} of a map needs data`);
  if (types.data === 'verdict') {
    if (!isVerdict(data)) throw new NftError(`element ${formatKey(key)} of a verdict map needs a verdict`);
    return { data: { verdict: verdictData(data) } };
  }
  if (isVerdict(data)) throw new NftError(`element ${formatKey(key)}: a verdict in a map of values`);
  if (types.data === 'counter') {
    if (typeof data !== 'string') throw new NftError(`element ${formatKey(key)} needs the name of a counter`);
    return { object: data };
  }
  const { start, end } = encodeKey(types.data, data);
  if (end !== undefined)
    throw new NftError(`element ${formatKey(key)}: ${formatKey(data)} is no single value`);
  return { data: { value: start } };
}
