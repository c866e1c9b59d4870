/** Asking until there is an answer. */
import type { DhcpMessageInput } from '../message/message.ts';
import type { Channel, Client, Destination, Received } from './ports.ts';
import type { Attempt } from './requests.ts';

/** One question. */
export interface Question<T> {
  readonly channel: Channel;
  readonly destination: Destination;
  /** The message for a try. */
  readonly ask: (attempt: Attempt) => DhcpMessageInput;
  /** What an answer to it means; `undefined` when it is to be passed over. `sentAt` is when it was last asked. */
  readonly judge: (received: Received, sentAt: number) => T | undefined;
  /** How long to wait after each try, in milliseconds. No more tries when it ends. */
  readonly waits: Iterable<number>;
  /** When to give up. */
  readonly deadline: number;
  /** When the client began; default now. */
  readonly began?: number;
  readonly signal: AbortSignal;
}

/**
 * Asks again and again.
 *
 * @returns what the first answer that counts means, or `undefined` when there was none
 */
export async function exchange<T>(client: Client, question: Question<T>): Promise<T | undefined> {
  const { clock, random, link } = client;
  const { channel, destination, ask, judge, waits, deadline, began = clock.now(), signal } = question;
  const xid = Math.floor(random() * 2 ** 32);
  const hardwareAddress = link.hardwareAddress.toBytes();
  for (const wait of waits) {
    const sentAt = clock.now();
    if (sentAt >= deadline) return undefined;
    channel.send(ask({ xid, elapsed: sentAt - began }), destination);
    const until = Math.min(sentAt + wait, deadline);
    for (;;) {
      const received = await channel.receive(until, signal);
      if (received === undefined) break;
      if (!answers(received, xid, hardwareAddress)) continue;
      const answer = judge(received, sentAt);
      if (answer !== undefined) return answer;
    }
  }
  return undefined;
}

function answers({ message }: Received, xid: number, hardwareAddress: Uint8Array): boolean {
  return (
    message.op === 'reply' &&
    message.xid === xid &&
    message.hardwareAddress.length === hardwareAddress.length &&
    message.hardwareAddress.every((byte, index) => byte === hardwareAddress[index])
  );
}
