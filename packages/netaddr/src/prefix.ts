import { Addr } from './addr.ts';
import { invalid } from './addr-error.ts';

const inspect = Symbol.for('nodejs.util.inspect.custom');

/**
 * An address with a prefix length, "CIDR": either a network (`10.1.2.0/24`) or a host's address in one
 * (`10.1.2.3/24`), because host bits are kept. An immutable value.
 *
 * @example
 * const prefix = Prefix.parse('10.1.2.3/24');
 * `${prefix.masked()}`;                        // '10.1.2.0/24'
 * `${prefix.last}`;                            // '10.1.2.255'
 * prefix.contains(Addr.parse('10.1.2.200'));   // true
 */
export class Prefix {
  /** `0.0.0.0/0` */
  static readonly DEFAULT4 = new Prefix(Addr.ZERO4, 0);
  /** `::/0` */
  static readonly DEFAULT6 = new Prefix(Addr.ZERO6, 0);

  /** The address as given, with its host bits. */
  readonly addr: Addr;
  /** The prefix length, 0 to `addr.bits`. */
  readonly bits: number;

  private constructor(addr: Addr, bits: number) {
    this.addr = addr;
    this.bits = bits;
  }

  /**
   * The prefix that `text` spells, in the grammar of Go's `net.ParseCIDR` (the length is required, in decimal).
   * Throws `AddrError`.
   */
  static parse(text: string): Prefix {
    const parsed = read(text);
    if (typeof parsed === 'string') throw invalid('CIDR address', text, parsed);
    return new Prefix(parsed.addr, parsed.bits);
  }

  /** Like `parse`, but `undefined` for a text that is no prefix. */
  static tryParse(text: string): Prefix | undefined {
    const parsed = read(text);
    return typeof parsed === 'string' ? undefined : new Prefix(parsed.addr, parsed.bits);
  }

  /** `addr/bits`; `AddrError` unless `bits` is an integer from 0 to `addr.bits`. */
  static of(addr: Addr, bits: number): Prefix {
    if (!Number.isInteger(bits) || bits < 0 || bits > addr.bits) {
      throw invalid('CIDR address', `${addr}/${bits}`, outOfRange(addr));
    }
    return new Prefix(addr, bits);
  }

  /** The prefix of one address: `/32` or `/128`. */
  static host(addr: Addr): Prefix {
    return new Prefix(addr, addr.bits);
  }

  /** Orders prefixes: by address, then the shorter (the one that contains more) first. */
  static compare(a: Prefix, b: Prefix): number {
    return Addr.compare(a.addr, b.addr) || a.bits - b.bits;
  }

  /** The IP version. */
  get family(): 4 | 6 {
    return this.addr.family;
  }

  toString(): string {
    return `${this.addr}/${this.bits}`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect](): string {
    return this.toString();
  }

  /** Same address, host bits included, and same length. */
  equals(other: Prefix): boolean {
    return this.bits === other.bits && this.addr.equals(other.addr);
  }

  /** This prefix with its host bits cleared. */
  masked(): Prefix {
    return this.hasHostBits ? new Prefix(this.network, this.bits) : this;
  }

  /** The first address. */
  get network(): Addr {
    return this.addr.masked(this.bits);
  }

  /** The last address; of an IPv4 network, its broadcast address. */
  get last(): Addr {
    return this.addr.filled(this.bits);
  }

  /** The broadcast address: `undefined` for IPv6, `/31` (RFC 3021) and `/32`. */
  get broadcast(): Addr | undefined {
    return this.family === 4 && this.bits < 31 ? this.last : undefined;
  }

  /** Whether any bit of `addr` past the length is set. */
  get hasHostBits(): boolean {
    return !this.network.equals(this.addr);
  }

  /** Whether there is but one address inside. */
  get isSingle(): boolean {
    return this.bits === this.addr.bits;
  }

  /** Whether `addr` is inside; an address of the other family never is. */
  contains(addr: Addr): boolean {
    return addr.family === this.family && this.addr.commonBits(addr) >= this.bits;
  }

  /** Whether every address of `other` is inside. */
  containsPrefix(other: Prefix): boolean {
    return other.bits >= this.bits && this.contains(other.addr);
  }

  /** Whether the two have an address in common: then one contains the other. */
  overlaps(other: Prefix): boolean {
    return this.containsPrefix(other) || other.containsPrefix(this);
  }

  /** The network mask as an address, `255.255.255.0`. */
  mask(): Addr {
    const zero = this.family === 4 ? Addr.ZERO4 : Addr.ZERO6;
    return zero.filled(0).masked(this.bits);
  }

  /** How many addresses there are inside. */
  size(): bigint {
    return 1n << BigInt(this.addr.bits - this.bits);
  }
}

/** The parts of a prefix text, or the reason why it has none. */
function read(text: string): { addr: Addr; bits: number } | string {
  const slash = text.indexOf('/');
  if (slash < 0) return 'no prefix length';
  const addr = Addr.read(text.slice(0, slash));
  if (typeof addr === 'string') return addr;
  const length = text.slice(slash + 1);
  // Leading zeros are accepted here, as net.ParseCIDR does.
  if (!/^[0-9]+$/.test(length) || Number(length) > addr.bits) return outOfRange(addr);
  return { addr, bits: Number(length) };
}

function outOfRange(addr: Addr): string {
  return `the prefix length is a number from 0 to ${addr.bits}`;
}
