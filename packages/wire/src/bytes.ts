/** Runs of bytes and text. */
import { type Codec, need } from './codec.ts';
import { WireError } from './wire-error.ts';

/** Everything up to the end of the value, as bytes. */
export const rest: Codec<Uint8Array> = {
  name: 'bytes',
  size: undefined,
  read: (window, start, end) => copyOf(window.bytes, start, end),
  write: (writer, value) => writer.append(value),
};

/** Exactly `size` bytes; a shorter value is filled up with zeros. */
export function bytes(size: number): Codec<Uint8Array> {
  const name = `bytes(${size})`;
  return {
    name,
    size,
    read(window, start, end) {
      need(name, size, start, end);
      return copyOf(window.bytes, start, start + size);
    },
    write(writer, value) {
      if (value.length > size) throw new WireError(name, writer.length, `cannot hold ${value.length} bytes`);
      const at = writer.reserve(size);
      writer.bytes.set(value, at);
    },
  };
}

/** Text that ends with a NUL byte, as the kernel writes names; on reading the NUL may be absent. */
export const cstring: Codec<string> = {
  name: 'cstring',
  size: undefined,
  read(window, start, end) {
    const { bytes } = window;
    // Link and chain names are short and plain: this is several times faster than a TextDecoder.
    let text = '';
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte === 0) return text;
      if (byte > 127 || at - start > 64) return longTextOf(bytes, start, end);
      text += String.fromCharCode(byte);
    }
    return text;
  },
  write(writer, value) {
    writer.append(new TextEncoder().encode(value));
    writer.reserve(1);
  },
};

/** A field of `size` bytes that holds NUL-terminated text, such as `char name[16]`. */
export function fixedString(size: number): Codec<string> {
  const name = `char[${size}]`;
  return {
    name,
    size,
    read(window, start, end) {
      need(name, size, start, end);
      return cstring.read(window, start, start + size);
    },
    write(writer, value) {
      const text = new TextEncoder().encode(value);
      if (text.length >= size)
        throw new WireError(name, writer.length, `cannot hold ${JSON.stringify(value)}`);
      const at = writer.reserve(size);
      writer.bytes.set(text, at);
    },
  };
}

function longTextOf(bytes: Uint8Array, start: number, end: number): string {
  const nul = bytes.indexOf(0, start);
  return new TextDecoder().decode(bytes.subarray(start, nul === -1 || nul > end ? end : nul));
}

/** A part of some bytes, in memory of its own: `slice` of a Buffer, unlike that of its base class, shares. */
export function copyOf(source: Uint8Array, start: number, end: number): Uint8Array {
  const size = end - start;
  if (size <= SHORT) {
    // Addresses and the like: a view to copy from would cost more than the copy.
    const copy = new Uint8Array(size);
    for (let at = 0; at < size; at++) copy[at] = source[start + at] as number;
    return copy;
  }
  return new Uint8Array(source.subarray(start, end));
}

const SHORT = 32;
