/** Netlink messages in a buffer: a header, a body, the next one four-byte aligned — linux/netlink.h */
import { type Codec, type Window, WireError, Writer, windowOf } from '@heddle/wire';
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
export class Framed implements Reply {
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly #window: Window;
  readonly #start: number;

  /** @throws {WireError} when there is no whole message at `start` */
  constructor(window: Window, start: number) {
    const end = window.bytes.length;
    const length = LENGTH.read(window, start, end);
    if (length < HEADER_SIZE || length > end - start) {
      throw new WireError('nlmsghdr', start, `has length ${length} where ${end - start} bytes are left`);
    }
    this.length = length;
    this.type = TYPE.read(window, start, end);
    this.flags = FLAGS.read(window, start, end);
    this.sequence = SEQUENCE.read(window, start, end);
    this.#window = window;
    this.#start = start;
  }

  get header(): MessageHeader {
    return nlmsghdr.read(this.#window, this.#start, this.#start + HEADER_SIZE);
  }

  get body(): Uint8Array {
    return this.#window.bytes.subarray(this.#start + HEADER_SIZE, this.#start + this.length);
  }

  /** The first byte of the body, in which most messages of rtnetlink say their family; 0 where there is no body. */
  get family(): number {
    return this.length > HEADER_SIZE ? (this.#window.bytes[this.#start + HEADER_SIZE] ?? 0) : 0;
  }

  /** What the body holds, without the attributes that the codec does not declare. */
  read<Out>(codec: Pick<Codec<Out, never>, 'read'>): Out {
    return codec.read(this.#window, this.#start + HEADER_SIZE, this.#start + this.length);
  }
}

const LENGTH = nlmsghdr.field('length');
const TYPE = nlmsghdr.field('type');
const FLAGS = nlmsghdr.field('flags');
const SEQUENCE = nlmsghdr.field('sequence');

/** What a reply's body holds, without the attributes that the codec does not declare. */
export function readReply<Out>(codec: Pick<Codec<Out, never>, 'read'>, reply: Reply): Out {
  if (reply instanceof Framed) return reply.read(codec);
  const { body } = reply;
  return codec.read({ ...windowOf(body), declaredOnly: true }, 0, body.length);
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
  const window: Window = { ...windowOf(datagram), declaredOnly: true };
  for (let at = 0; at < datagram.length; ) {
    const frame = new Framed(window, at);
    found.push(frame);
    at += (frame.length + 3) & ~3;
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
