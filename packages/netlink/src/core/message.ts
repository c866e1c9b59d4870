/** Netlink messages in a buffer: a header, a body, the next one four-byte aligned — linux/netlink.h */
import { WireError, Writer, windowOf } from '@heddle/wire';
import { HEADER_SIZE, type MessageHeader, nlmsghdr } from './header.ts';

/** A message to send. */
export interface Message {
  /** RTM_*, or a subsystem and message of nfnetlink. */
  readonly type: number;
  /** NLM_F_* beyond those that the client adds. */
  readonly flags?: number;
  /** The message behind its header. */
  readonly body: Uint8Array;
  /** What it asks, for error messages, such as `add link eth0`. */
  readonly operation: string;
}

/** A message that came back. Its body lies in the receive buffer: decode it, do not keep it. */
export interface Reply {
  readonly type: number;
  readonly flags: number;
  readonly body: Uint8Array;
}

/** A message with its header, as it lies in a datagram. */
export interface Framed {
  readonly header: MessageHeader;
  readonly body: Uint8Array;
}

/** Appends one message to `writer`. */
export function writeMessage(
  writer: Writer,
  message: {
    readonly type: number;
    readonly flags: number;
    readonly sequence: number;
    readonly body: Uint8Array;
  },
): void {
  const { type, flags, sequence, body } = message;
  nlmsghdr.write(writer, { length: HEADER_SIZE + body.length, type, flags, sequence });
  writer.append(body);
  writer.align(4);
}

/**
 * The messages of one datagram.
 *
 * @throws {WireError} when a length does not fit
 */
export function readMessages(datagram: Uint8Array): readonly Framed[] {
  const found: Framed[] = [];
  const window = windowOf(datagram);
  for (let at = 0; at < datagram.length; ) {
    const header = nlmsghdr.read(window, at, datagram.length);
    if (header.length < HEADER_SIZE || header.length > datagram.length - at) {
      throw new WireError(
        'nlmsghdr',
        at,
        `has length ${header.length} where ${datagram.length - at} bytes are left`,
      );
    }
    found.push({ header, body: datagram.subarray(at + HEADER_SIZE, at + header.length) });
    at += (header.length + 3) & ~3;
  }
  return found;
}

/** One message as a buffer of its own. */
export function encodeMessage(message: {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly body: Uint8Array;
}): Uint8Array {
  const writer = new Writer(HEADER_SIZE + message.body.length + 3);
  writeMessage(writer, message);
  return writer.finish();
}
