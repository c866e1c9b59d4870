/**
 * Messages of D-Bus: a header whose fields say what the message is about, then the body.
 * Source: D-Bus Specification, Message Format.
 */
import { decode, u16, WireError, Writer, windowOf } from '@heddle/wire';
import {
  array,
  byte,
  type Cursor,
  marshal,
  objectPath,
  read,
  signature,
  string,
  structure,
  uint32,
  unmarshal,
  type Variant,
  variant,
} from './types.ts';

/** What a message is. */
export const MESSAGE_TYPE = { call: 1, reply: 2, error: 3, signal: 4 } as const;

/** A message. Which of the members there are depends on its type. */
export interface DBusMessage {
  readonly type: number;
  /** The sender's number for it; not zero. */
  readonly serial: number;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly errorName?: string;
  /** The serial of the call that this answers. */
  readonly replyTo?: number;
  readonly destination?: string;
  readonly sender?: string;
  readonly body: readonly Variant[];
}

/** A message as it came: its body is values, whose types the signature told. */
export interface ReceivedMessage extends Omit<DBusMessage, 'body'> {
  readonly body: readonly unknown[];
}

/** The header as it lies in the message. */
const header = structure({
  byteOrder: byte,
  type: byte,
  flags: byte,
  version: byte,
  bodyLength: uint32,
  serial: uint32,
  fields: array(structure({ code: byte, value: variant })),
});

/** The fields of the header by name: their codes and types. */
const FIELDS = {
  path: { code: 1, type: objectPath },
  interface: { code: 2, type: string },
  member: { code: 3, type: string },
  errorName: { code: 4, type: string },
  replyTo: { code: 5, type: uint32 },
  destination: { code: 6, type: string },
  sender: { code: 7, type: string },
} as const;
const SIGNATURE = 8;

/** `l` or `B`: the order of bytes in the message, this machine's. */
const BYTE_ORDER = (decode(u16, Uint8Array.of(1, 0)) === 1 ? 'l' : 'B').charCodeAt(0);
const VERSION = 1;
/** The part of the header that tells how long the rest is. */
export const START_SIZE = 16;
/** The longest message that the specification allows, 128 MiB. */
const LENGTH_MAX = 2 ** 27;

/** A message as bytes. */
export function encodeMessage(message: DBusMessage): Uint8Array {
  const body = marshal(message.body);
  const fields: { readonly code: number; readonly value: Variant }[] = [];
  for (const [name, { code, type }] of Object.entries(FIELDS)) {
    const value = message[name as keyof typeof FIELDS];
    if (value !== undefined) fields.push({ code, value: { type, value } });
  }
  const types = message.body.map(({ type }) => type.signature).join('');
  if (types !== '') fields.push({ code: SIGNATURE, value: { type: signature, value: types } });
  const writer = new Writer();
  header.write(writer, {
    ...{ byteOrder: BYTE_ORDER, type: message.type, flags: 0, version: VERSION },
    ...{ bodyLength: body.length, serial: message.serial, fields },
  });
  writer.align(8);
  writer.append(body);
  return writer.finish();
}

/**
 * The length of the message that begins with these {@link START_SIZE} bytes.
 *
 * @throws {WireError} when no message begins like that
 */
export function messageLength(start: Uint8Array): number {
  const [byteOrder, , , version] = start;
  if (byteOrder !== BYTE_ORDER || version !== VERSION) {
    throw new WireError('message', 0, 'is of another byte order or version');
  }
  const cursor: Cursor = { window: windowOf(start), at: 4 };
  const bodyLength = read(cursor, uint32);
  cursor.at = START_SIZE - 4;
  const length = aligned(START_SIZE + read(cursor, uint32)) + bodyLength;
  if (length > LENGTH_MAX) throw new WireError('message', 4, `would be ${length} bytes long`);
  return length;
}

/** Reads a whole message. @throws {WireError} when it is none */
export function decodeMessage(bytes: Uint8Array): ReceivedMessage {
  const cursor: Cursor = { window: windowOf(bytes), at: 0 };
  const { type, serial, fields, bodyLength } = header.read(cursor);
  const from = aligned(cursor.at);
  const named = Object.entries(FIELDS).flatMap(([name, { code }]) => {
    const field = fields.find((each) => each.code === code);
    return field === undefined ? [] : [[name, field.value.value]];
  });
  const types = fields.find(({ code }) => code === SIGNATURE)?.value.value;
  const body = unmarshal(String(types ?? ''), bytes.subarray(from, from + bodyLength));
  return { type, serial, ...Object.fromEntries(named), body };
}

function aligned(at: number): number {
  return Math.ceil(at / 8) * 8;
}
