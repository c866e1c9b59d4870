import { Addr } from './addr.ts';
import { AddrError } from './addr-error.ts';
import { Prefix } from './prefix.ts';

const inspect = Symbol.for('nodejs.util.inspect.custom');

/**
 * The addresses from `first` to `last`, both included: an immutable value, never empty.
 *
 * @example
 * const range = AddrRange.of(Addr.parse('10.0.0.5'), Addr.parse('10.0.0.8'));
 * range.size();               // 4n
 * range.toPrefixes().join();  // '10.0.0.5/32,10.0.0.6/31,10.0.0.8/32'
 */
export class AddrRange {
  /** The lowest address. */
  readonly first: Addr;
  /** The highest address. */
  readonly last: Addr;

  private constructor(first: Addr, last: Addr) {
    this.first = first;
    this.last = last;
  }

  /** `first-last`; `AddrError` if the families differ or `first` comes after `last`. */
  static of(first: Addr, last: Addr): AddrRange {
    if (first.family !== last.family) {
      throw new AddrError(`invalid address range: ${first}-${last} (families differ)`);
    }
    if (Addr.compare(first, last) > 0) {
      throw new AddrError(`invalid address range: ${first}-${last} (first comes after last)`);
    }
    return new AddrRange(first, last);
  }

  /** All addresses of a prefix. */
  static ofPrefix(prefix: Prefix): AddrRange {
    return new AddrRange(prefix.network, prefix.last);
  }

  /** Whether `addr` is inside; an address of the other family never is. */
  contains(addr: Addr): boolean {
    return Addr.compare(this.first, addr) <= 0 && Addr.compare(addr, this.last) <= 0;
  }

  /** Whether the two have an address in common. */
  overlaps(other: AddrRange): boolean {
    return Addr.compare(this.first, other.last) <= 0 && Addr.compare(other.first, this.last) <= 0;
  }

  /** How many addresses there are inside. */
  size(): bigint {
    return this.first.distance(this.last) + 1n;
  }

  /** Same ends. */
  equals(other: AddrRange): boolean {
    return this.first.equals(other.first) && this.last.equals(other.last);
  }

  /** `10.0.0.5-10.0.0.8` */
  toString(): string {
    return `${this.first}-${this.last}`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect](): string {
    return this.toString();
  }

  /** The fewest prefixes that hold exactly these addresses, in ascending order. */
  toPrefixes(): Prefix[] {
    const prefixes: Prefix[] = [];
    let next: Addr | undefined = this.first;
    while (next !== undefined && this.contains(next)) {
      const prefix = this.#widestAt(next);
      prefixes.push(prefix);
      next = prefix.last.next();
    }
    return prefixes;
  }

  /** The widest prefix that starts at `addr` and does not reach past the end. */
  #widestAt(addr: Addr): Prefix {
    let bits: number = addr.bits;
    while (bits > 0 && addr.masked(bits - 1).equals(addr) && this.contains(addr.filled(bits - 1))) bits--;
    return Prefix.of(addr, bits);
  }
}
