/** Many echo requests one after the other, to see whether one is lost while something happens. */

import { setTimeout as pause } from 'node:timers/promises';
import type { Addr } from '@heddle/netaddr';
import { type NetnsHandle, recv, SOCK, SysError, send, socket, watch } from '@heddle/sys';
import { ECHO, echoRequest, readEcho } from './ping.ts';
import { familyNumber, socketAddress } from './socket-address.ts';

/** How many to send, and how fast. */
export interface FloodOptions {
  /** Milliseconds from one request to the next; 10 by default. */
  readonly interval?: number | undefined;
  /** Until when; the flood ends then. */
  readonly until: AbortSignal;
}

/** What came back. */
export interface FloodOutcome {
  readonly sent: number;
  readonly answered: number;
  /** Why requests could not even be sent, each reason once. */
  readonly refusals: readonly string[];
}

/** Sends until told to end, and waits a moment for the last answers. */
export async function flood(
  netns: NetnsHandle,
  to: Addr,
  { interval = 10, until }: FloodOptions,
): Promise<FloodOutcome> {
  const { protocol } = ECHO[to.family];
  using fd = socket({ family: familyNumber(to.family), type: SOCK.RAW, protocol, netns, nonblocking: true });
  const id = (Math.random() * 0xffff) | 0;
  const answered = new Set<number>();
  const refusals = new Set<string>();
  using _watching = watch(fd, () => {
    try {
      const packet = recv(fd);
      const reply = packet && readEcho(packet, to.family);
      if (reply?.id === id) answered.add(reply.sequence);
    } catch (error) {
      if (!(error instanceof SysError)) throw error;
      refusals.add(error.errno);
    }
  });
  let sent = 0;
  while (!until.aborted && sent < MOST) {
    try {
      send(fd, echoRequest(to.family, { id, sequence: sent }), { to: socketAddress(to) });
    } catch (error) {
      if (!(error instanceof SysError)) throw error;
      refusals.add(error.errno);
    }
    sent++;
    await pause(interval);
  }
  for (let waited = 0; waited < PATIENCE && answered.size < sent; waited += 20) await pause(20);
  return { sent, answered: answered.size, refusals: [...refusals] };
}

/** Sequence numbers have 16 bits. */
const MOST = 0xffff;
/** Milliseconds. */
const PATIENCE = 2000;
