/**
 * A codec is a value that knows one binary format: how to read it from a window of bytes and how to
 * append it to a writer. Codecs compose; their TypeScript types are inferred from the composition.
 */
import { WireError } from './wire-error.ts';
import { Writer } from './writer.ts';

/** A read-only look at a message: the same bytes as an array and as numbers. */
export interface Window {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Whether attributes that no set declares are passed over; else they are kept, each as a copy. */
  readonly declaredOnly?: boolean;
}

/**
 * One binary format.
 *
 * `Out` is what reading gives; `In` is what writing takes (usually the same, with fields optional).
 */
export interface Codec<Out, In = Out> {
  /** The format's name in error messages, such as `ifinfomsg` or `u32`. */
  readonly name: string;
  /** Bytes that every value takes, or `undefined` when it depends on the value. */
  readonly size: number | undefined;
  /**
   * Reads the value that lies in `[start, end)`. A format of fixed size ignores what lies behind it,
   * because the kernel appends fields to its structs over time.
   *
   * @throws {WireError} when the bytes are too short or not of this format
   */
  read(window: Window, start: number, end: number): Out;
  /** Appends the value. */
  write(writer: Writer, value: In): void;
}

/** What reading with a codec gives. */
export type Value<C> = C extends Codec<infer Out, infer _In> ? Out : never;

/** What writing with a codec takes. */
export type Input<C> = C extends Codec<infer _Out, infer In> ? In : never;

/**
 * Reads one value from the whole of `bytes`. Nothing in the result shares memory with `bytes`.
 *
 * @example decode(u32be, Uint8Array.of(0, 0, 1, 0)) // 256
 * @throws {WireError} when the bytes do not hold such a value
 */
export function decode<Out, In>(codec: Codec<Out, In>, bytes: Uint8Array): Out {
  return codec.read(windowOf(bytes), 0, bytes.length);
}

/**
 * {@link decode} for a reader that has no use for attributes that it does not know: of what the kernel tells of a link,
 * they are the larger part.
 *
 * @throws {WireError} when the bytes do not hold such a value
 */
export function decodeDeclared<Out, In>(codec: Codec<Out, In>, bytes: Uint8Array): Out {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return codec.read({ bytes, view, declaredOnly: true }, 0, bytes.length);
}

/**
 * Writes one value into fresh bytes.
 *
 * @example encode(u32be, 256) // Uint8Array [0, 0, 1, 0]
 */
export function encode<Out, In>(codec: Codec<Out, In>, value: In): Uint8Array {
  const writer = new Writer(codec.size);
  codec.write(writer, value);
  // Nobody else has the writer: its memory is the value's own.
  return writer.written;
}

/** The window onto the whole of `bytes`. */
export function windowOf(bytes: Uint8Array): Window {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

/**
 * Checks that `size` bytes lie in `[start, end)`.
 *
 * @throws {WireError} naming the format, what it needs and what is there
 */
export function need(name: string, size: number, start: number, end: number): void {
  if (end - start < size) throw new WireError(name, start, `needs ${size} bytes, ${end - start} are left`);
}
