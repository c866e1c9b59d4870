/**
 * The types of D-Bus as they are marshalled: a value lies at a multiple of its alignment, counted from the beginning of
 * the message; texts and arrays begin with their length in bytes. Integers are in host order: both ends of a bus are on
 * one machine, and a message says so.
 * Source: D-Bus Specification, Type System and Marshaling (Wire Format).
 */
import { encode, need, u8, u32, type Window, WireError, Writer, windowOf } from '@heddle/wire';

/** One type: its signature, and how its values lie in a message. */
export interface DBusType<T> {
  readonly signature: string;
  readonly alignment: number;
  read(cursor: Cursor): T;
  write(writer: Writer, value: T): void;
}

/** What values of a type are. */
export type ValueOf<D> = D extends DBusType<infer T> ? T : never;

/** A place in a message that is being read. */
export interface Cursor {
  readonly window: Window;
  at: number;
}

/** `y` */
export const byte = integer('y', u8);
/** `u` */
export const uint32 = integer('u', u32);
/** `b` */
export const boolean: DBusType<boolean> = {
  ...{ signature: 'b', alignment: 4 },
  read: (cursor) => uint32.read(cursor) !== 0,
  write: (writer, value) => uint32.write(writer, value ? 1 : 0),
};
/** `s` */
export const string = text('s', uint32);
/** `o`: the path of an object. */
export const objectPath = text('o', uint32);
/** `g`: the types of a message's body. */
export const signature = text('g', byte);

/** `v`: a value that brings its type along; types that consist of others are not known here. */
export const variant: DBusType<Variant> = {
  ...{ signature: 'v', alignment: 1 },
  read(cursor) {
    const at = cursor.at;
    const code = signature.read(cursor);
    const type = BASIC_TYPES.get(code);
    if (type === undefined) throw new WireError('variant', at, `has the type ${JSON.stringify(code)}`);
    return { type, value: type.read(cursor) };
  },
  write(writer, { type, value }) {
    signature.write(writer, type.signature);
    align(writer, type);
    type.write(writer, value as never);
  },
};

/** A value with its type. */
export interface Variant {
  readonly type: DBusType<never> | DBusType<unknown>;
  readonly value: unknown;
}

/** `a…`: any number of values of one type. */
export function array<T>(item: DBusType<T>): DBusType<readonly T[]> {
  return {
    ...{ signature: `a${item.signature}`, alignment: 4 },
    read(cursor) {
      const length = uint32.read(cursor);
      skipTo(cursor, item.alignment);
      const end = cursor.at + length;
      need(item.signature, length, cursor.at, cursor.window.bytes.length);
      const items: T[] = [];
      while (cursor.at < end) items.push(read(cursor, item));
      return items;
    },
    write(writer, items) {
      const lengthAt = writer.reserve(4);
      align(writer, item);
      const from = writer.length;
      for (const each of items) {
        align(writer, item);
        item.write(writer, each);
      }
      writer.bytes.set(encode(u32, writer.length - from), lengthAt);
    },
  };
}

/** `(…)`: values of these types one behind the other, by name. */
export function structure<const F extends Readonly<Record<string, DBusType<never> | DBusType<unknown>>>>(
  fields: F,
): DBusType<{ readonly [K in keyof F]: ValueOf<F[K]> }> {
  const entries = Object.entries(fields) as [string, DBusType<unknown>][];
  return {
    ...{ signature: `(${entries.map(([, type]) => type.signature).join('')})`, alignment: 8 },
    read: (cursor) =>
      Object.fromEntries(entries.map(([name, type]) => [name, read(cursor, type)])) as {
        readonly [K in keyof F]: ValueOf<F[K]>;
      },
    write(writer, value) {
      for (const [name, type] of entries) {
        align(writer, type);
        type.write(writer, value[name]);
      }
    },
  };
}

/** Reads the next value, from the next place where one of its type can be. */
export function read<T>(cursor: Cursor, type: DBusType<T>): T {
  skipTo(cursor, type.alignment);
  return type.read(cursor);
}

/** Values one behind the other, as the body of a message. */
export function marshal(values: readonly Variant[]): Uint8Array {
  const writer = new Writer();
  for (const { type, value } of values) {
    align(writer, type);
    type.write(writer, value as never);
  }
  return writer.finish();
}

/** The values of a body. @throws {WireError} for types that consist of others */
export function unmarshal(types: string, body: Uint8Array): readonly unknown[] {
  const cursor: Cursor = { window: windowOf(body), at: 0 };
  return [...types].map((code) => {
    const type = BASIC_TYPES.get(code);
    if (type === undefined) throw new WireError('body', cursor.at, `has the types ${JSON.stringify(types)}`);
    return read(cursor, type);
  });
}

const BASIC_TYPES: ReadonlyMap<string, DBusType<unknown>> = new Map(
  [byte, uint32, boolean, string, objectPath, signature].map((type) => [
    type.signature,
    type as DBusType<unknown>,
  ]),
);

function integer(code: string, codec: typeof u32): DBusType<number> {
  const size = codec.size ?? 0;
  return {
    ...{ signature: code, alignment: size },
    read(cursor) {
      const value = codec.read(cursor.window, cursor.at, cursor.window.bytes.length);
      cursor.at += size;
      return value;
    },
    write: (writer, value) => codec.write(writer, value),
  };
}

/** Text with its length before it, and a zero that is not counted behind it. */
function text(code: string, length: DBusType<number>): DBusType<string> {
  return {
    ...{ signature: code, alignment: length.alignment },
    read(cursor) {
      const size = length.read(cursor);
      need(code, size + 1, cursor.at, cursor.window.bytes.length);
      const value = new TextDecoder().decode(cursor.window.bytes.subarray(cursor.at, cursor.at + size));
      cursor.at += size + 1;
      return value;
    },
    write(writer, value) {
      const bytes = new TextEncoder().encode(value);
      length.write(writer, bytes.length);
      writer.append(bytes);
      writer.reserve(1);
    },
  };
}

function align(writer: Writer, { alignment }: Pick<DBusType<unknown>, 'alignment'>): void {
  writer.align(alignment);
}

function skipTo(cursor: Cursor, alignment: number): void {
  cursor.at = Math.ceil(cursor.at / alignment) * alignment;
}
