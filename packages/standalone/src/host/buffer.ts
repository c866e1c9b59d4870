/** `Buffer`, as much of it as the program uses. */

type Encoding = 'utf8' | 'utf-8' | 'latin1' | 'hex' | 'base64';

/** Bytes as `Buffer` makes them. */
class Bytes extends Uint8Array {
  // What the language brings and the types here do not know yet.
  declare readonly toHex: () => string;
  declare readonly toBase64: () => string;

  override toString(encoding: Encoding = 'utf8', start = 0, end = this.length): string {
    const first = Math.min(start, this.length);
    const length = Math.max(0, Math.min(end, this.length) - first);
    const part = view(new Uint8Array(this.buffer, this.byteOffset + first, length));
    switch (encoding) {
      case 'hex':
        return part.toHex();
      case 'base64':
        return part.toBase64();
      case 'latin1':
        return Array.from(part, (byte) => String.fromCharCode(byte)).join('');
      default:
        return host.decode(part);
    }
  }

  override indexOf(wanted: number | string, from = 0): number {
    if (typeof wanted === 'number') return super.indexOf(wanted, from);
    const bytes = host.encode(wanted);
    for (let at = from; at + bytes.length <= this.length; at++) {
      if (bytes.every((byte, i) => this[at + i] === byte)) return at;
    }
    return -1;
  }
}

export const Buffer = {
  from(source: string | ArrayBuffer | ArrayLike<number>, encoding: Encoding = 'utf8'): Bytes {
    if (typeof source !== 'string') return new Bytes(source as ArrayLike<number>);
    return view(encoding === 'base64' ? fromBase64(source) : host.encode(source));
  },

  alloc(size: number): Bytes {
    return new Bytes(size);
  },

  byteLength(text: string): number {
    return host.encode(text).length;
  },

  concat(parts: readonly Uint8Array[]): Bytes {
    const whole = new Bytes(parts.reduce((size, { length }) => size + length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  },

  compare(a: Uint8Array, b: Uint8Array): -1 | 0 | 1 {
    const shorter = Math.min(a.length, b.length);
    for (let i = 0; i < shorter; i++) {
      const difference = (a[i] ?? 0) - (b[i] ?? 0);
      if (difference !== 0) return difference < 0 ? -1 : 1;
    }
    if (a.length === b.length) return 0;
    return a.length < b.length ? -1 : 1;
  },
};

function view(bytes: Uint8Array): Bytes {
  return Object.setPrototypeOf(bytes, Bytes.prototype);
}

/** Takes both alphabets, with and without padding, and leaves out what is of neither. */
function fromBase64(text: string): Uint8Array {
  const digits = text
    .replace(/-/g, '+')
    .replace(/_/g, '/')
    .replace(/[^A-Za-z0-9+/]/g, '');
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
  return (Uint8Array as unknown as { fromBase64(text: string): Uint8Array }).fromBase64(whole);
}
