/**
 * Integers. Host order and network order are different codecs, never an argument; values up to 2^53
 * are `number`, true 64-bit counters are `bigint`.
 */
import { type Codec, need } from './codec.ts';

/*
 * The common ones are written out: half of what the plugins' interpreter would do for one of them is calling functions.
 */

const LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** An unsigned byte. */
export const u8: Codec<number> = {
  name: 'u8',
  size: 1,
  read(window, start, end) {
    if (end - start < 1) need('u8', 1, start, end);
    return window.view.getUint8(start);
  },
  write(writer, value) {
    const at = writer.reserve(1);
    writer.view.setUint8(at, value);
  },
};
/** A signed byte. */
export const i8: Codec<number> = integer(
  'i8',
  1,
  (view, at) => view.getInt8(at),
  (view, at, value) => view.setInt8(at, value),
);
/** An unsigned 16-bit integer in host order. */
export const u16: Codec<number> = {
  name: 'u16',
  size: 2,
  read(window, start, end) {
    if (end - start < 2) need('u16', 2, start, end);
    return window.view.getUint16(start, LITTLE);
  },
  write(writer, value) {
    const at = writer.reserve(2);
    writer.view.setUint16(at, value, LITTLE);
  },
};
/** An unsigned 16-bit integer in network order. */
export const u16be: Codec<number> = {
  name: 'u16be',
  size: 2,
  read(window, start, end) {
    if (end - start < 2) need('u16be', 2, start, end);
    return window.view.getUint16(start);
  },
  write(writer, value) {
    const at = writer.reserve(2);
    writer.view.setUint16(at, value);
  },
};
/** An unsigned 32-bit integer in host order. */
export const u32: Codec<number> = {
  name: 'u32',
  size: 4,
  read(window, start, end) {
    if (end - start < 4) need('u32', 4, start, end);
    return window.view.getUint32(start, LITTLE);
  },
  write(writer, value) {
    const at = writer.reserve(4);
    writer.view.setUint32(at, value, LITTLE);
  },
};
/** An unsigned 32-bit integer in network order. */
export const u32be: Codec<number> = {
  name: 'u32be',
  size: 4,
  read(window, start, end) {
    if (end - start < 4) need('u32be', 4, start, end);
    return window.view.getUint32(start);
  },
  write(writer, value) {
    const at = writer.reserve(4);
    writer.view.setUint32(at, value);
  },
};
/** A signed 32-bit integer in host order. */
export const i32: Codec<number> = integer(
  'i32',
  4,
  (view, at) => view.getInt32(at, LITTLE),
  (view, at, value) => view.setInt32(at, value, LITTLE),
);
/** A signed 32-bit integer in network order. */
export const i32be: Codec<number> = integer(
  'i32be',
  4,
  (view, at) => view.getInt32(at),
  (view, at, value) => view.setInt32(at, value),
);
/** An unsigned 64-bit integer in host order. */
export const u64: Codec<bigint> = integer(
  'u64',
  8,
  (view, at) => view.getBigUint64(at, LITTLE),
  (view, at, value) => view.setBigUint64(at, value, LITTLE),
);
/** An unsigned 64-bit integer in network order. */
export const u64be: Codec<bigint> = integer(
  'u64be',
  8,
  (view, at) => view.getBigUint64(at),
  (view, at, value) => view.setBigUint64(at, value),
);
/** A signed 64-bit integer in host order. */
export const i64: Codec<bigint> = integer(
  'i64',
  8,
  (view, at) => view.getBigInt64(at, LITTLE),
  (view, at, value) => view.setBigInt64(at, value, LITTLE),
);

function integer<T>(
  name: string,
  size: number,
  get: (view: DataView, at: number) => T,
  set: (view: DataView, at: number, value: T) => void,
): Codec<T> {
  return {
    name,
    size,
    read(window, start, end) {
      need(name, size, start, end);
      return get(window.view, start);
    },
    write(writer, value) {
      const at = writer.reserve(size);
      set(writer.view, at, value);
    },
  };
}
