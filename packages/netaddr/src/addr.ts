import { AddrError, invalid } from './addr-error.ts';
import { formatV4, formatV6, parseAddr } from './addr-text.ts';

const inspect = Symbol.for('nodejs.util.inspect.custom');

/**
 * One IPv4 or IPv6 address: an immutable value, compared with `equals` or `Addr.compare`.
 *
 * `::ffff:10.0.0.1` is an IPv6 address until `unmap()` is called; only the predicates (`isLoopback`, …) look
 * through the mapping, as Go's do.
 *
 * @example
 * const addr = Addr.parse('2001:DB8::0:1');
 * `${addr}`;            // '2001:db8::1'
 * addr.next();          // 2001:db8::2
 * addr.isGlobalUnicast; // true
 */
export class Addr {
  /** `0.0.0.0` */
  static readonly ZERO4 = new Addr(4, 0, 0, 0, 0);
  /** `::` */
  static readonly ZERO6 = new Addr(6, 0, 0, 0, 0);

  /** The IP version. */
  readonly family: 4 | 6;
  // An IPv4 address is the last word, below 96 zero bits. Words are kept as signed 32-bit integers, which
  // engines store unboxed. They are plain properties, not #private ones, so that structural comparison
  // (deepEqual in tests) sees them.
  private readonly w0: number;
  private readonly w1: number;
  private readonly w2: number;
  private readonly w3: number;

  private constructor(family: 4 | 6, w0: number, w1: number, w2: number, w3: number) {
    this.family = family;
    this.w0 = w0 | 0;
    this.w1 = w1 | 0;
    this.w2 = w2 | 0;
    this.w3 = w3 | 0;
  }

  /**
   * The address that `text` spells: a dotted quad without leading zeros, or RFC 4291 §2.2 text (an IPv4 tail
   * included). Zone ids are refused. Throws `AddrError`.
   */
  static parse(text: string): Addr {
    const addr = Addr.read(text);
    if (typeof addr === 'string') throw invalid('IP address', text, addr);
    return addr;
  }

  /** Like `parse`, but `undefined` for a text that is no address. */
  static tryParse(text: string): Addr | undefined {
    const addr = Addr.read(text);
    return typeof addr === 'string' ? undefined : addr;
  }

  /** @internal The address, or the reason why there is none, for parsers of texts that contain one. */
  static read(text: string): Addr | string {
    const parsed = parseAddr(text);
    if (typeof parsed === 'string') return parsed;
    return typeof parsed === 'number' ? new Addr(4, 0, 0, 0, parsed) : new Addr(6, ...parsed);
  }

  /** The address in network byte order; 4 or 16 bytes, else `AddrError`. */
  static fromBytes(bytes: Uint8Array): Addr {
    if (bytes.length === 4) return new Addr(4, 0, 0, 0, wordAt(bytes, 0));
    if (bytes.length === 16) {
      return new Addr(6, wordAt(bytes, 0), wordAt(bytes, 4), wordAt(bytes, 8), wordAt(bytes, 12));
    }
    throw new AddrError(`invalid IP address: ${bytes.length} bytes (expected 4 or 16)`);
  }

  /** Orders addresses: IPv4 before IPv6, then by value. */
  static compare(a: Addr, b: Addr): number {
    return (
      a.family - b.family ||
      (a.w0 >>> 0) - (b.w0 >>> 0) ||
      (a.w1 >>> 0) - (b.w1 >>> 0) ||
      (a.w2 >>> 0) - (b.w2 >>> 0) ||
      (a.w3 >>> 0) - (b.w3 >>> 0)
    );
  }

  /** The address's length in bits. */
  get bits(): 32 | 128 {
    return this.family === 4 ? 32 : 128;
  }

  /** A fresh copy in network byte order, 4 or 16 bytes. */
  toBytes(): Uint8Array {
    const bytes = new Uint8Array(this.bits / 8);
    if (this.family === 4) {
      putWord(bytes, 0, this.w3);
    } else {
      putWord(bytes, 0, this.w0);
      putWord(bytes, 4, this.w1);
      putWord(bytes, 8, this.w2);
      putWord(bytes, 12, this.w3);
    }
    return bytes;
  }

  /** The canonical text (RFC 5952; IPv4-mapped addresses as `::ffff:10.0.0.1`). */
  toString(): string {
    if (this.family === 4) return formatV4(this.w3);
    if (this.is4In6) return `::ffff:${formatV4(this.w3)}`;
    return formatV6([this.w0, this.w1, this.w2, this.w3]);
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect](): string {
    return this.toString();
  }

  /** Same family, same value. */
  equals(other: Addr): boolean {
    return (
      this.family === other.family &&
      this.w3 === other.w3 &&
      this.w2 === other.w2 &&
      this.w1 === other.w1 &&
      this.w0 === other.w0
    );
  }

  /** Whether this is IPv4-mapped, `::ffff:0:0/96`. */
  get is4In6(): boolean {
    return this.family === 6 && this.w0 === 0 && this.w1 === 0 && this.w2 === 0xffff;
  }

  /** The IPv4 address inside an IPv4-mapped one; any other address is returned as it is. */
  unmap(): Addr {
    return this.is4In6 ? new Addr(4, 0, 0, 0, this.w3) : this;
  }

  /** The following address, `undefined` after the last of the family. */
  next(): Addr | undefined {
    return this.add(1);
  }

  /** The preceding address, `undefined` before the first of the family. */
  prev(): Addr | undefined {
    return this.add(-1);
  }

  /**
   * The address `n` steps on (back, if negative), `undefined` outside of the family's space.
   * Throws `RangeError` if `n` is no integer.
   */
  add(n: number | bigint): Addr | undefined {
    // Below 2^52 a word's sum is exact in a double; the carry out of it is added to the next word.
    if (!Number.isInteger(n) || Math.abs(Number(n)) >= 2 ** 52) return this.#addBig(BigInt(n));
    const s3 = (this.w3 >>> 0) + Number(n);
    const c3 = Math.floor(s3 / 2 ** 32);
    if (c3 === 0) return new Addr(this.family, this.w0, this.w1, this.w2, s3);
    if (this.family === 4) return undefined;
    const s2 = (this.w2 >>> 0) + c3;
    const s1 = (this.w1 >>> 0) + Math.floor(s2 / 2 ** 32);
    const s0 = (this.w0 >>> 0) + Math.floor(s1 / 2 ** 32);
    return s0 < 0 || s0 >= 2 ** 32 ? undefined : new Addr(6, s0, s1, s2, s3);
  }

  /** The number of steps from here to `other`, negative if it lies before; `AddrError` between families. */
  distance(other: Addr): bigint {
    if (this.family !== other.family) {
      throw new AddrError(`no distance from ${this} to ${other} (families differ)`);
    }
    return other.#value() - this.#value();
  }

  /** The length of the common prefix with `other` in bits; 0 between families. */
  commonBits(other: Addr): number {
    if (this.family !== other.family) return 0;
    const before = 128 - this.bits;
    if (this.w0 !== other.w0) return Math.clz32(this.w0 ^ other.w0);
    if (this.w1 !== other.w1) return 32 + Math.clz32(this.w1 ^ other.w1);
    if (this.w2 !== other.w2) return 64 + Math.clz32(this.w2 ^ other.w2);
    return 96 + Math.clz32(this.w3 ^ other.w3) - before;
  }

  /** The first `bits` bits kept, the rest zero: the first address of the prefix. */
  masked(bits: number): Addr {
    const n = bits + 128 - this.bits;
    return new Addr(
      this.family,
      this.w0 & mask(n),
      this.w1 & mask(n - 32),
      this.w2 & mask(n - 64),
      this.w3 & mask(n - 96),
    );
  }

  /** The first `bits` bits kept, the rest one: the last address of the prefix. */
  filled(bits: number): Addr {
    const n = bits + 128 - this.bits;
    return new Addr(
      this.family,
      this.w0 | ~mask(n),
      this.w1 | ~mask(n - 32),
      this.w2 | ~mask(n - 64),
      this.w3 | ~mask(n - 96),
    );
  }

  /** `0.0.0.0` or `::`. */
  get isUnspecified(): boolean {
    return (this.w0 | this.w1 | this.w3) === 0 && (this.w2 === 0 || this.is4In6);
  }

  /** `127.0.0.0/8` or `::1`. */
  get isLoopback(): boolean {
    const addr = this.unmap();
    if (addr.family === 4) return addr.w3 >>> 24 === 127;
    return (addr.w0 | addr.w1 | addr.w2) === 0 && addr.w3 === 1;
  }

  /** `224.0.0.0/4` or `ff00::/8`. */
  get isMulticast(): boolean {
    const addr = this.unmap();
    return addr.family === 4 ? addr.w3 >>> 28 === 0xe : addr.w0 >>> 24 === 0xff;
  }

  /** Link-local unicast: `169.254.0.0/16` or `fe80::/10`. */
  get isLinkLocal(): boolean {
    const addr = this.unmap();
    return addr.family === 4 ? addr.w3 >>> 16 === 0xa9fe : addr.w0 >>> 22 === 0x3fa;
  }

  /**
   * Whether this names a host beyond the link, in Go's meaning: private addresses (RFC 1918) and unique local
   * ones (RFC 4193) included; unspecified, loopback, link-local, multicast and limited broadcast not.
   */
  get isGlobalUnicast(): boolean {
    return !(
      this.isUnspecified ||
      this.isLoopback ||
      this.isMulticast ||
      this.isLinkLocal ||
      this.#isBroadcast
    );
  }

  /** `255.255.255.255` */
  get #isBroadcast(): boolean {
    const addr = this.unmap();
    return addr.family === 4 && addr.w3 === -1;
  }

  #addBig(n: bigint): Addr | undefined {
    const value = this.#value() + n;
    if (value < 0n || value >> BigInt(this.bits) !== 0n) return undefined;
    const word = (shift: bigint) => Number((value >> shift) & 0xffff_ffffn);
    return new Addr(this.family, word(96n), word(64n), word(32n), word(0n));
  }

  #value(): bigint {
    const high = (BigInt(this.w0 >>> 0) << 32n) | BigInt(this.w1 >>> 0);
    const low = (BigInt(this.w2 >>> 0) << 32n) | BigInt(this.w3 >>> 0);
    return (high << 64n) | low;
  }
}

/** The mask of a word whose first `n` bits belong to the prefix; any `n`, clamped to 0..32. */
function mask(n: number): number {
  if (n <= 0) return 0;
  return n >= 32 ? -1 : -1 << (32 - n);
}

// Byte by byte, not through a DataView: asking a small array for its buffer moves it off the heap, which
// costs ten times as much.
function wordAt(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16);
  return high | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
}

function putWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >>> 24;
  bytes[at + 1] = word >>> 16;
  bytes[at + 2] = word >>> 8;
  bytes[at + 3] = word;
}
