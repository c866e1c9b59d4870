import { type Framed, readMessages } from '../../core/message.ts';
import { NetlinkError } from '../../core/netlink-error.ts';
import type { Transport } from '../../core/transport.ts';
import { ReplyQueue } from './reply-queue.ts';

/** What a netlink family does with the messages of one send. */
export type Protocol = (messages: readonly Framed[], replies: ReplyQueue) => void;

/** A netlink socket whose kernel is a function. */
export class FakeTransport implements Transport {
  readonly #protocol: Protocol;
  #closed = false;

  constructor(protocol: Protocol) {
    this.#protocol = protocol;
  }

  async exchange(request: Uint8Array): Promise<Uint8Array[]> {
    if (this.#closed) throw new NetlinkError('use a session that is closed', EBADF);
    const replies = new ReplyQueue();
    this.#protocol(readMessages(request), replies);
    return replies.datagrams;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
  }
}

const EBADF = 9;
