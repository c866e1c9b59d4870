/** Keys of elements as bytes: single values, intervals and concatenations of both. */
import { Addr, AddrRange, Prefix } from '@heddle/netaddr';
import { type KeyType, padded, type Scalar, type TypeInfo, typeInfo } from './key-types.ts';
import { NftError } from './nft-error.ts';

/** All values from `from` to `to`, both included. */
export interface KeyRange {
  readonly from: Scalar;
  readonly to: Scalar;
}

/** One component of a key: a value, or an interval of values. */
export type KeyPart = Scalar | Prefix | AddrRange | KeyRange;

/** A key: a component, or a tuple of them for a concatenation. `'*'` matches what no other element does. */
export type KeyValue = KeyPart | readonly KeyPart[];

/** A key's bytes, padded as in registers. `end` is the last value, for an interval. */
export interface KeyBytes {
  readonly start: Uint8Array;
  readonly end?: Uint8Array;
}

/** The matched part of `prefix`; a prefix of full length is its address. */
export function isInterval(part: KeyPart): part is Prefix | AddrRange | KeyRange {
  if (part instanceof Prefix) return !part.isSingle;
  return part instanceof AddrRange || isRange(part);
}

/**
 * The bytes of a key of these types.
 *
 * @throws {NftError} when a component is missing or is no value of its type
 */
export function encodeKey(types: readonly KeyType[], key: KeyValue): KeyBytes {
  const parts = partsOf(key);
  if (parts.length !== types.length) {
    throw new NftError(`key ${formatKey(key)} has ${parts.length} of ${types.length} components`);
  }
  const ends = types.map((type, index) => endsOf(typeInfo(type), parts[index] as KeyPart));
  const pads = types.length > 1 ? padded : (length: number) => length;
  const start = concatenated(
    ends.map(([first]) => first),
    pads,
  );
  if (!parts.some(isInterval)) return { start };
  return {
    start,
    end: concatenated(
      ends.map(([, last]) => last),
      pads,
    ),
  };
}

/** The key that these bytes hold; `end`, where given, is the last value. */
export function decodeKey(types: readonly KeyType[], start: Uint8Array, end: Uint8Array = start): KeyValue {
  const parts: KeyPart[] = [];
  let at = 0;
  for (const type of types) {
    const info = typeInfo(type);
    const slice = (bytes: Uint8Array) => bytes.subarray(at, at + info.length);
    if (slice(start).length < info.length || slice(end).length < info.length) {
      throw new NftError(`a key of ${start.length} bytes is too short for ${types.map(nameOf).join(' . ')}`);
    }
    parts.push(partOf(info, slice(start), slice(end)));
    at += padded(info.length);
  }
  return parts.length === 1 ? (parts[0] as KeyPart) : parts;
}

/** The first and last value of a component. */
export function endsOf(info: TypeInfo, part: KeyPart): readonly [Uint8Array, Uint8Array] {
  const [first, last] =
    part instanceof Prefix
      ? [part.network, part.last]
      : part instanceof AddrRange
        ? [part.first, part.last]
        : isRange(part)
          ? [part.from, part.to]
          : [part, part];
  const from = info.encode(first);
  const to = first === last ? from : info.encode(last);
  if (isInterval(part) && info.order === 'host' && info.length > 1) {
    throw new NftError(`${formatKey(part)}: ${info.name} is kept in host order and has no intervals`);
  }
  if (compareBytes(from, to) > 0) throw new NftError(`interval ${formatKey(part)} ends before it starts`);
  return [from, to];
}

/** A key as text, such as `10.0.0.1 . tcp . 80`. */
export function formatKey(key: KeyValue): string {
  return partsOf(key).map(formatPart).join(' . ');
}

/** The components of a key. */
export function partsOf(key: KeyValue): readonly KeyPart[] {
  return isTuple(key) ? key : [key];
}

/** Orders byte strings as the kernel does. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** The following byte string of the same length, `undefined` after the last. */
export function nextBytes(bytes: Uint8Array): Uint8Array | undefined {
  return stepped(bytes, 1);
}

/** The preceding byte string of the same length, `undefined` before the first. */
export function previousBytes(bytes: Uint8Array): Uint8Array | undefined {
  return stepped(bytes, -1);
}

function stepped(bytes: Uint8Array, step: 1 | -1): Uint8Array | undefined {
  const result = bytes.slice();
  for (let at = result.length - 1; at >= 0; at--) {
    const value = (result[at] as number) + step;
    result[at] = value;
    if (value >= 0 && value <= 255) return result;
  }
  return undefined;
}

function partOf(info: TypeInfo, start: Uint8Array, end: Uint8Array): KeyPart {
  const from = info.decode(start);
  if (compareBytes(start, end) === 0) return from;
  const to = info.decode(end);
  if (from instanceof Addr && to instanceof Addr) {
    const bits = from.commonBits(to);
    if (from.masked(bits).equals(from) && to.filled(bits).equals(to)) return Prefix.of(from, bits);
  }
  return { from, to };
}

function concatenated(parts: readonly Uint8Array[], pads: (length: number) => number): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + pads(part.length), 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += pads(part.length);
  }
  return bytes;
}

function isTuple(key: KeyValue): key is readonly KeyPart[] {
  return Array.isArray(key);
}

function isRange(part: KeyPart): part is KeyRange {
  return typeof part === 'object' && 'from' in part && 'to' in part && !(part instanceof Uint8Array);
}

function formatPart(part: KeyPart): string {
  if (part instanceof Uint8Array)
    return `0x${Array.from(part, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  if (isRange(part)) return `${formatPart(part.from)}-${formatPart(part.to)}`;
  return String(part);
}

function nameOf(type: KeyType): string {
  return typeInfo(type).name;
}
