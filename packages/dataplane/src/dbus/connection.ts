/**
 * A connection to a message bus, over a Unix socket: authenticated by what the kernel says of this process (EXTERNAL),
 * then one message behind the other.
 * Source: D-Bus Specification, Authentication Protocol and Message Bus Specification.
 */
import type { Socket } from 'node:net';
import { WireError } from '@heddle/wire';
import { DBusError } from './dbus-error.ts';
import {
  type DBusMessage,
  decodeMessage,
  encodeMessage,
  MESSAGE_TYPE,
  messageLength,
  type ReceivedMessage,
  START_SIZE,
} from './message.ts';
import type { Variant } from './types.ts';

/** A method of an object on the bus, and its arguments. */
export interface MethodCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly body?: readonly Variant[];
}

/** The bus itself, as an object on it. */
export const BUS = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
} as const;

/** See the file's comment. It is for one caller, who waits for each answer before calling again. */
export class DBusConnection implements Disposable {
  readonly #socket: Socket;
  readonly #chunks: AsyncIterator<Buffer>;
  #unread: Buffer = Buffer.alloc(0);
  #serial = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#chunks = socket[Symbol.asyncIterator]();
  }

  /**
   * Connects and introduces itself.
   *
   * @param socket the path of the bus's socket
   * @throws {DBusError} when nobody listens there, or does not want to
   */
  static async open(socket: string): Promise<DBusConnection> {
    // Loaded here: a plugin that speaks to no bus starts sooner without it.
    const { connect } = await import('node:net');
    const connection = new DBusConnection(connect(socket));
    connection.#socket.setTimeout(PATIENCE, () => {
      connection.#socket.destroy(new Error(`no answer for ${PATIENCE / 1000} seconds`));
    });
    try {
      await connection.#authenticate();
      await connection.call({ ...BUS, member: 'Hello' });
      return connection;
    } catch (error) {
      connection[Symbol.dispose]();
      throw error instanceof DBusError && error.errorName !== undefined ? error : refused(socket, error);
    }
  }

  /** Calls a method and waits for its answer. @throws {DBusError} with the error that was answered */
  async call(call: MethodCall): Promise<readonly unknown[]> {
    const serial = this.send({ type: MESSAGE_TYPE.call, ...call, body: call.body ?? [] });
    for (;;) {
      const { type, replyTo, errorName, body } = await this.receive();
      if (replyTo !== serial) continue;
      if (type !== MESSAGE_TYPE.error) return body;
      const [text] = body;
      const said = typeof text === 'string' ? text : errorName;
      throw new DBusError(`${call.interface}.${call.member}: ${said}`, { errorName: errorName ?? '' });
    }
  }

  /** Sends a message and returns its serial. */
  send(message: Omit<DBusMessage, 'serial'>): number {
    this.#serial++;
    this.#socket.write(encodeMessage({ ...message, serial: this.#serial }));
    return this.#serial;
  }

  /** The next message. @throws {DBusError} when the bus goes away */
  async receive(): Promise<ReceivedMessage> {
    try {
      await this.#fill(START_SIZE);
      const length = messageLength(this.#unread.subarray(0, START_SIZE));
      await this.#fill(length);
      return decodeMessage(this.#take(length));
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      throw new DBusError(`a message that is none: ${error.message}`, { cause: error });
    }
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  async #authenticate(): Promise<void> {
    const user = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
    this.#socket.write(`\0AUTH EXTERNAL ${user}\r\n`);
    const answer = await this.#line();
    if (!answer.startsWith('OK ')) throw new DBusError(`not accepted: ${answer}`);
    this.#socket.write('BEGIN\r\n');
  }

  async #line(): Promise<string> {
    let end = -1;
    while (end < 0) {
      await this.#fill(this.#unread.length + 1);
      end = this.#unread.indexOf('\r\n');
    }
    const line = this.#unread.toString('latin1', 0, end);
    this.#take(end + 2);
    return line;
  }

  /** Waits until so many bytes have come in. */
  async #fill(size: number): Promise<void> {
    while (this.#unread.length < size) {
      const { done, value } = await this.#chunks.next().catch((error: unknown) => {
        throw new DBusError(error instanceof Error ? error.message : String(error), { cause: error });
      });
      if (done === true) throw new DBusError('the bus closed the connection');
      this.#unread = Buffer.concat([this.#unread, value]);
    }
  }

  #take(size: number): Uint8Array {
    const taken = new Uint8Array(this.#unread.subarray(0, size));
    this.#unread = this.#unread.subarray(size);
    return taken;
  }
}

/** Milliseconds to wait for an answer; what clients of D-Bus are used to. */
const PATIENCE = 25_000;

function refused(socket: string, error: unknown): DBusError {
  const why = error instanceof Error ? error.message : String(error);
  return new DBusError(`connect to the message bus at ${socket}: ${why}`, { cause: error });
}
