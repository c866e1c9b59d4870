import { AddrError, invalid, unexpected } from './addr-error.ts';
import { hexDigit } from './addr-text.ts';

const inspect = Symbol.for('nodejs.util.inspect.custom');

/**
 * A 48-bit Ethernet address (EUI-48): an immutable value.
 *
 * @example
 * `${Mac.parse('0A-58-0A-F4-00-05')}`; // '0a:58:0a:f4:00:05'
 */
export class Mac {
  /** `00:00:00:00:00:00` */
  static readonly ZERO = new Mac(0, 0);
  /** `ff:ff:ff:ff:ff:ff` */
  static readonly BROADCAST = new Mac(0xff_ffff, 0xff_ffff);

  // Two halves of 24 bits, plain properties so that structural comparison sees them.
  private readonly high: number;
  private readonly low: number;

  private constructor(high: number, low: number) {
    this.high = high;
    this.low = low;
  }

  /**
   * The address that `text` spells: `aa:bb:cc:dd:ee:ff`, `aa-bb-cc-dd-ee-ff` or `aabb.ccdd.eeff`, in either
   * case. Throws `AddrError`.
   */
  static parse(text: string): Mac {
    const parsed = read(text);
    if (typeof parsed === 'string') throw invalid('MAC address', text, parsed);
    return new Mac(parsed[0], parsed[1]);
  }

  /** Like `parse`, but `undefined` for a text that is no MAC address. */
  static tryParse(text: string): Mac | undefined {
    const parsed = read(text);
    return typeof parsed === 'string' ? undefined : new Mac(parsed[0], parsed[1]);
  }

  /** The address in transmission order; 6 bytes, else `AddrError`. */
  static fromBytes(bytes: Uint8Array): Mac {
    if (bytes.length !== 6) throw new AddrError(`invalid MAC address: ${bytes.length} bytes (expected 6)`);
    return new Mac(halfAt(bytes, 0), halfAt(bytes, 3));
  }

  /** A fresh copy in transmission order, 6 bytes. */
  toBytes(): Uint8Array {
    const { high, low } = this;
    return Uint8Array.of(high >>> 16, high >>> 8, high, low >>> 16, low >>> 8, low);
  }

  /** Lower case, separated by colons. */
  toString(): string {
    return `${formatHalf(this.high)}:${formatHalf(this.low)}`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect](): string {
    return this.toString();
  }

  /** Same six bytes. */
  equals(other: Mac): boolean {
    return this.high === other.high && this.low === other.low;
  }

  /** Whether the locally-administered bit is set: made up, not assigned by a manufacturer. */
  get isLocal(): boolean {
    return (this.high & 0x02_0000) !== 0;
  }

  /** Whether the group bit is set; the broadcast address included. */
  get isMulticast(): boolean {
    return (this.high & 0x01_0000) !== 0;
  }

  /** Whether all bits are zero, the kernel's "none". */
  get isZero(): boolean {
    return this.high === 0 && this.low === 0;
  }
}

/** The two halves of a MAC text, or the reason why it has none. The first separator decides the form. */
function read(text: string): readonly [number, number] | string {
  const dotted = text[4] === '.';
  const separator = dotted ? '.' : text[2];
  if (!dotted && separator !== ':' && separator !== '-') return 'expected 6 bytes in hexadecimal';
  const width = dotted ? 4 : 2;
  const halves: [number, number] = [0, 0];
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    if (at % (width + 1) === width) {
      if (text[at] !== separator) return unexpected(text, at);
    } else {
      const digit = hexDigit(text.charCodeAt(at));
      if (digit < 0) return unexpected(text, at);
      if (digits === 12) return 'more than 6 bytes';
      if (digits < 6) halves[0] = (halves[0] << 4) | digit;
      else halves[1] = (halves[1] << 4) | digit;
      digits++;
    }
  }
  // A separator at the end leaves the length of a longer text, with as many digits.
  if (digits < 12 || text.length !== (dotted ? 14 : 17)) return 'expected 6 bytes in hexadecimal';
  return halves;
}

function formatHalf(half: number): string {
  const digits = half.toString(16).padStart(6, '0');
  return `${digits.slice(0, 2)}:${digits.slice(2, 4)}:${digits.slice(4)}`;
}

/** Three bytes as a number; not by destructuring, which takes an iterator. */
function halfAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
}
