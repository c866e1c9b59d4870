/**
 * Requests and dumps over one transport: sequence numbers, acknowledgements and errors.
 *
 * Answers are told from leftovers of an earlier, failed exchange by their sequence number.
 */
import { ErrorList } from '@heddle/errors';
import { SysError } from '@heddle/sys';
import { Writer } from '@heddle/wire';
import { type Verdict, verdictOf } from './acknowledgement.ts';
import { NLM_F, NLMSG } from './header.ts';
import { type Framed, type Message, type Reply, readMessages, writeMessage } from './message.ts';
import { NetlinkError } from './netlink-error.ts';
import type { Answer } from './query.ts';
import type { Transport } from './transport.ts';

/** The entries of a dump. */
export type Dump = readonly Reply[] & {
  /** Whether the table changed under every attempt, so that entries may be missing or listed twice. */
  readonly interrupted: boolean;
};

/** Speaks one netlink family, over one socket or a stand-in for it. */
export class NetlinkClient implements Disposable {
  readonly #transport: Transport;
  #sequence = 0;
  /** Requests are written into the same memory, one after the other. */
  #writer = new Writer();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Sends one message and returns the replies that are not its acknowledgement.
   *
   * @throws {NetlinkError} when the kernel refuses it
   */
  async request(message: Message): Promise<Reply[]> {
    const exchanged = this.#exchange([message], NLM_F.REQUEST | NLM_F.ACK);
    const { first, frames } = exchanged instanceof Promise ? await exchanged : exchanged;
    const replies: Reply[] = [];
    let answered = false;
    for (const frame of frames) {
      if (frame.sequence !== first) continue;
      const verdict = verdictOf(frame);
      if (verdict === undefined) replies.push(frame);
      else if (verdict.errnum === 0) answered = true;
      else throw new NetlinkError(message.operation, verdict.errnum, verdict.extAck);
    }
    if (!answered) throw unanswered(message.operation);
    return replies;
  }

  /**
   * Lists a table. A dump during which the table changed is repeated, up to five times.
   *
   * @throws {NetlinkError} when the kernel refuses it
   */
  async dump(message: Message): Promise<Dump> {
    for (let attempt = 1; ; attempt++) {
      const found = await this.#dumpOnce(message, attempt < DUMP_ATTEMPTS);
      if (found !== undefined && (!found.interrupted || attempt === DUMP_ATTEMPTS)) return found;
    }
  }

  /**
   * Sends several messages at once, each acknowledged by itself: the kernel goes on past one that it
   * refuses. More than a few hundred are sent in several goes.
   *
   * @throws {NetlinkError} for the message that was refused, an {@link ErrorList} when there are several
   */
  async batch(messages: readonly Message[]): Promise<void> {
    const problems: unknown[] = [];
    for (const chunk of chunks(messages)) {
      const exchanged = this.#exchange(chunk, NLM_F.REQUEST | NLM_F.ACK);
      const { first, frames } = exchanged instanceof Promise ? await exchanged : exchanged;
      const waiting = new Map(chunk.map((message, index) => [(first + index) >>> 0, message]));
      for (const frame of frames) {
        const message = waiting.get(frame.sequence);
        const verdict = verdictOf(frame);
        if (message === undefined || verdict === undefined) continue;
        waiting.delete(frame.sequence);
        if (verdict.errnum !== 0) problems.push(refusal(message, verdict));
      }
      for (const { operation } of waiting.values()) problems.push(unanswered(operation));
    }
    ErrorList.throwIfAny(`${problems.length} of ${messages.length} changes`, problems);
  }

  /**
   * Sends several messages at once and says how each was answered. At most one may be a dump, and only the last.
   *
   * @throws {NetlinkError} EPROTO when one was not answered
   */
  async answers(messages: readonly Message[]): Promise<readonly Answer[]> {
    const exchanged = this.#exchange(messages, NLM_F.REQUEST | NLM_F.ACK);
    const { first, frames } = exchanged instanceof Promise ? await exchanged : exchanged;
    const answers = messages.map(() => ({ replies: [] as Reply[], verdict: NONE, interrupted: false }));
    for (const frame of frames) {
      const answer = answers[(frame.sequence - first) >>> 0];
      if (answer === undefined) continue;
      if ((frame.flags & NLM_F.DUMP_INTR) !== 0) answer.interrupted = true;
      const verdict = verdictOf(frame);
      if (verdict === undefined) answer.replies.push(frame);
      else answer.verdict = verdict;
    }
    return answers.map(({ replies, verdict, interrupted }, index) => {
      const message = messages[index] as Message;
      if (verdict === undefined) throw unanswered(message.operation);
      return { replies, interrupted, ...(verdict.errnum !== 0 && { error: refusal(message, verdict) }) };
    });
  }

  /**
   * Sends messages that the kernel takes or refuses as a whole (a batch of nfnetlink), in one go however
   * large. No acknowledgement is asked for but where a message's own flags do: silence is success.
   * Returns what else came back, such as the echo of NLM_F_ECHO.
   *
   * @throws {NetlinkError} for the first message that was refused
   */
  async transaction(messages: readonly Message[]): Promise<Reply[]> {
    const exchanged = this.#exchange(messages, NLM_F.REQUEST);
    const { first, frames } = exchanged instanceof Promise ? await exchanged : exchanged;
    const replies: Reply[] = [];
    let refused: { readonly index: number; readonly error: NetlinkError } | undefined;
    for (const frame of frames) {
      const index = (frame.sequence - first) >>> 0;
      const message = messages[index];
      if (message === undefined) continue;
      const verdict = verdictOf(frame);
      if (verdict === undefined) replies.push(frame);
      else if (verdict.errnum !== 0 && (refused === undefined || index < refused.index)) {
        refused = { index, error: refusal(message, verdict) };
      }
    }
    if (refused !== undefined) throw refused.error;
    return replies;
  }

  [Symbol.dispose](): void {
    this.#transport[Symbol.dispose]();
  }

  /** `undefined`: the receive buffer overflowed, and there is more room now. */
  async #dumpOnce(message: Message, mayRetry: boolean): Promise<Dump | undefined> {
    let exchanged: Exchanged;
    try {
      const exchange = this.#exchange([message], NLM_F.REQUEST | NLM_F.DUMP);
      exchanged = exchange instanceof Promise ? await exchange : exchange;
    } catch (error) {
      if (mayRetry && SysError.is(error, 'ENOBUFS')) return undefined;
      throw error;
    }
    const replies: Reply[] = [];
    let interrupted = false;
    for (const frame of exchanged.frames) {
      if (frame.sequence !== exchanged.first) continue;
      if ((frame.flags & NLM_F.DUMP_INTR) !== 0) interrupted = true;
      const verdict = verdictOf(frame);
      if (verdict === undefined) replies.push(frame);
      else if (verdict.errnum !== 0) throw refusal(message, verdict);
      else return Object.assign(replies, { interrupted });
    }
    throw unanswered(message.operation);
  }

  /**
   * Sends `messages` under consecutive sequence numbers from `first`. What the transport does inside the call is not
   * made a promise of: a call of a plugin is some tens of exchanges, and hardly anything else in it waits.
   */
  #exchange(messages: readonly Message[], flags: number): Exchanged | Promise<Exchanged> {
    // 0 is the kernel's own, on notifications.
    if (this.#sequence + messages.length > 0xffff_ffff) this.#sequence = 0;
    const first = this.#sequence + 1;
    this.#sequence += messages.length;
    if (this.#writer.bytes.length > KEPT) this.#writer = new Writer();
    const writer = this.#writer;
    writer.reset();
    for (let index = 0; index < messages.length; index++) {
      const message = messages[index] as Message;
      const { type, body } = message;
      writeMessage(writer, { type, flags: flags | (message.flags ?? 0), sequence: first + index, body });
    }
    try {
      const { immediate } = this.#transport;
      const request = writer.written;
      if (immediate?.suits(request)) return { first, frames: framesIn(immediate.exchange(request)) };
    } catch (error) {
      throw this.#recovered(error);
    }
    return this.#exchangeLater(first, writer.finish());
  }

  async #exchangeLater(first: number, request: Uint8Array): Promise<Exchanged> {
    try {
      return { first, frames: framesIn(await this.#transport.exchange(request)) };
    } catch (error) {
      throw this.#recovered(error);
    }
  }

  #recovered(error: unknown): unknown {
    if (SysError.is(error, 'ENOBUFS')) this.#transport.recover?.();
    return error;
  }
}

/** What came back from an exchange, and the sequence number of its first message. */
interface Exchanged {
  readonly first: number;
  readonly frames: readonly Framed[];
}

function framesIn(datagrams: readonly Uint8Array[]): readonly Framed[] {
  const frames: Framed[] = [];
  for (let at = 0; at < datagrams.length; at++) {
    for (const frame of readMessages(datagrams[at] as Uint8Array)) {
      if (frame.type !== NLMSG.NOOP) frames.push(frame);
    }
  }
  return frames;
}

const DUMP_ATTEMPTS = 5;

/** Bytes of memory for requests that are kept for the next one. */
const KEPT = 64 * 1024;

/** So that 4 MiB of receive buffer hold every acknowledgement, and the send buffer every message. */
const CHUNK = { messages: 500, bytes: 128 * 1024 } as const;

const EPROTO = 71;
/** No verdict has come yet. */
const NONE = undefined as Verdict | undefined;

function* chunks(messages: readonly Message[]): Generator<readonly Message[]> {
  let chunk: Message[] = [];
  let bytes = 0;
  for (const message of messages) {
    if (chunk.length === CHUNK.messages || (chunk.length > 0 && bytes + message.body.length > CHUNK.bytes)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(message);
    bytes += message.body.length;
  }
  if (chunk.length > 0) yield chunk;
}

function refusal(
  message: Message,
  verdict: { errnum: number; extAck: NetlinkError['extAck'] },
): NetlinkError {
  return new NetlinkError(message.operation, verdict.errnum, verdict.extAck);
}

function unanswered(operation: string): NetlinkError {
  return new NetlinkError(`${operation}, which was not answered`, EPROTO);
}
