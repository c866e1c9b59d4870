/**
 * Messages of Protocol Buffers (version 3), as gRPC services speak them: declared like any other format.
 *
 * Fields that are not declared are passed over. A field that is not there reads as the empty value of its type; on
 * writing, a field that is given is written, even when its value is the empty one.
 */
import { type Codec, decode, need } from './codec.ts';
import { WireError } from './wire-error.ts';
import { Writer } from './writer.ts';

/** How a field's value stands behind its number: as a varint, or as bytes behind their length. */
type WireType = 0 | 2;

/** The type of a field. */
export interface ProtoType<Out, In = Out> {
  readonly name: string;
  readonly wireType: WireType;
  /** What the field reads as when it is not there. */
  readonly empty: Out;
  /** Whether the field may be there several times; `read` and `write` are then about one of them. */
  readonly repeated?: boolean;
  /** The value of a varint, or of the bytes in `[start, end)`. */
  read(content: Content): unknown;
  write(writer: Writer, value: In): void;
}

/** Where a field's value lies. */
interface Content {
  readonly bytes: Uint8Array;
  /** The value of a varint, 0 otherwise. */
  readonly varint: bigint;
}

/** A whole number of 64 bits that is known to be small enough for a number, such as a counter. */
export const int64: ProtoType<number> = {
  name: 'int64',
  wireType: 0,
  empty: 0,
  read({ varint }) {
    const value = Number(BigInt.asIntN(64, varint));
    if (!Number.isSafeInteger(value)) throw new WireError('int64', 0, `is too large for a number: ${varint}`);
    return value;
  },
  write: (writer, value) => writeVarint(writer, BigInt.asUintN(64, BigInt(value))),
};

/** A whole number of 64 bits of any size, such as an identifier. */
export const bigint64: ProtoType<bigint> = {
  name: 'int64',
  wireType: 0,
  empty: 0n,
  read: ({ varint }) => BigInt.asIntN(64, varint),
  write: (writer, value) => writeVarint(writer, BigInt.asUintN(64, value)),
};

/** True or false. */
export const protoBool: ProtoType<boolean> = {
  name: 'bool',
  wireType: 0,
  empty: false,
  read: ({ varint }) => varint !== 0n,
  write: (writer, value) => writeVarint(writer, value ? 1n : 0n),
};

/** Bytes. */
export const protoBytes: ProtoType<Uint8Array> = {
  name: 'bytes',
  wireType: 2,
  empty: new Uint8Array(),
  read: ({ bytes }) => bytes.slice(),
  write: writeBytes,
};

/** Text; also for `bytes` that are known to be UTF-8. */
export const protoText: ProtoType<string> = {
  name: 'string',
  wireType: 2,
  empty: '',
  read: ({ bytes }) => new TextDecoder().decode(bytes),
  write: (writer, value) => writeBytes(writer, new TextEncoder().encode(value)),
};

/** A message within a message; `undefined` when it is not there. */
export function embedded<Out, In>(codec: Codec<Out, In>): ProtoType<Out | undefined, In> {
  return {
    name: codec.name,
    wireType: 2,
    empty: undefined,
    read: ({ bytes }) => decode(codec, bytes),
    write(writer, value) {
      const inner = new Writer();
      codec.write(inner, value);
      writeBytes(writer, inner.finish());
    },
  };
}

/** Any number of messages, bytes or texts. Numbers are packed in version 3, which is another format. */
export function several<Out, In>(
  type: ProtoType<Out, In>,
): ProtoType<readonly Exclude<Out, undefined>[], readonly In[]> {
  if (type.wireType !== 2) throw new TypeError(`several ${type.name} are packed`);
  return {
    name: `${type.name}[]`,
    wireType: 2,
    empty: [],
    repeated: true,
    read: type.read,
    // The message writes each of them by itself, each behind a number of its own.
    write: (writer, value) => type.write(writer, value as unknown as In),
  };
}

/** The fields of a message: a number and a type each. */
export type ProtoFields = Readonly<
  Record<string, readonly [number: number, type: ProtoType<unknown, never>]>
>;

/** What reading a message gives. */
export type ProtoValue<F extends ProtoFields> = {
  readonly [K in keyof F]: F[K][1] extends ProtoType<infer Out, infer _In> ? Out : never;
};

/** What writing a message takes. */
export type ProtoInput<F extends ProtoFields> = {
  readonly [K in keyof F]?: F[K][1] extends ProtoType<infer _Out, infer In> ? In | undefined : never;
};

/**
 * A message.
 *
 * @example
 * const put = protoMessage('PutRequest', { key: [1, protoText], value: [2, protoText], lease: [3, bigint64] });
 * encode(put, { key: 'a', value: 'b' });
 */
export function protoMessage<const F extends ProtoFields>(
  name: string,
  fields: F,
): Codec<ProtoValue<F>, ProtoInput<F>> {
  const declared = Object.entries(fields);
  const byNumber = new Map(declared.map(([key, [number, type]]) => [number, { key, type }]));
  return {
    name,
    size: undefined,
    read(window, start, end) {
      const value: Record<string, unknown> = {};
      for (const [key, [, { empty, repeated }]] of declared) value[key] = repeated === true ? [] : empty;
      const cursor = new Cursor(name, window.bytes, start, end);
      while (!cursor.atEnd) {
        const { number, wireType, content } = cursor.field();
        const field = byNumber.get(number);
        if (field === undefined) continue;
        const { key, type } = field;
        if (wireType !== type.wireType) {
          throw new WireError(name, cursor.at, `has a field ${number} that is no ${type.name}`);
        }
        const sofar = value[key];
        if (type.repeated === true && Array.isArray(sofar)) sofar.push(type.read(content));
        else value[key] = type.read(content);
      }
      return value as ProtoValue<F>;
    },
    write(writer, value) {
      for (const [key, [number, type]] of declared) {
        const given: unknown = value[key];
        if (given === undefined) continue;
        const values: readonly unknown[] = type.repeated === true && Array.isArray(given) ? given : [given];
        for (const each of values) {
          writeVarint(writer, BigInt((number << 3) | type.wireType));
          type.write(writer, each as never);
        }
      }
    },
  };
}

/** Reads fields one after the other. */
class Cursor {
  readonly #name: string;
  readonly #bytes: Uint8Array;
  readonly #end: number;
  at: number;

  constructor(name: string, bytes: Uint8Array, start: number, end: number) {
    this.#name = name;
    this.#bytes = bytes;
    this.at = start;
    this.#end = end;
  }

  get atEnd(): boolean {
    return this.at >= this.#end;
  }

  field(): { readonly number: number; readonly wireType: number; readonly content: Content } {
    const tag = Number(this.#varint());
    const wireType = tag & 7;
    return { number: tag >>> 3, wireType, content: this.#content(wireType) };
  }

  #content(wireType: number): Content {
    switch (wireType) {
      case 0:
        return { bytes: NOTHING, varint: this.#varint() };
      case 1:
        return { bytes: this.#take(8), varint: 0n };
      case 2:
        return { bytes: this.#take(Number(this.#varint())), varint: 0n };
      case 5:
        return { bytes: this.#take(4), varint: 0n };
      default:
        throw new WireError(this.#name, this.at, `has a field of the unknown kind ${wireType}`);
    }
  }

  #take(size: number): Uint8Array {
    need(this.#name, size, this.at, this.#end);
    this.at += size;
    return this.#bytes.subarray(this.at - size, this.at);
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#take(1)[0] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new WireError(this.#name, this.at, 'has a number of more than 64 bits');
  }
}

function writeVarint(writer: Writer, value: bigint): void {
  let left = value;
  for (; left >= 0x80n; left >>= 7n) writer.append(Uint8Array.of(Number(left & 0x7fn) | 0x80));
  writer.append(Uint8Array.of(Number(left)));
}

function writeBytes(writer: Writer, value: Uint8Array): void {
  writeVarint(writer, BigInt(value.length));
  writer.append(value);
}

const NOTHING = new Uint8Array();
