/**
 * What answers probes at a place: over UDP and TCP it says its name, and from which address it was asked. So whoever
 * asks knows who answered, and whether the way changed addresses.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Addr } from '@heddle/netaddr';
import {
  accept,
  bind,
  type Fd,
  getpeername,
  listen,
  type NetnsHandle,
  recv,
  recvFrom,
  SO,
  SOCK,
  SOL,
  SysError,
  send,
  setsockopt,
  socket,
  watch,
} from '@heddle/sys';
import { CHUNK, patternAt } from './pattern.ts';
import { addressIn, familyNumber, socketAddress } from './socket-address.ts';

/** Where greeters listen. */
export const GREETER_PORT = 7007;

/** See the file's comment. */
export class Greeter implements Disposable {
  readonly #name: string;
  readonly #stack = new DisposableStack();
  readonly #connections = new Set<Fd>();

  /**
   * Opens the sockets. They keep the namespace alive until the greeter is disposed of.
   *
   * @param addresses each gets sockets of its own, so that answers come from where was asked
   */
  constructor(name: string, netns: NetnsHandle, addresses: readonly Addr[]) {
    this.#name = name;
    try {
      for (const address of addresses) {
        this.#datagrams(this.#open(netns, address, SOCK.DGRAM), address.family);
        this.#streams(this.#open(netns, address, SOCK.STREAM), address.family);
      }
    } catch (error) {
      this.#stack.dispose();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const fd of this.#connections) fd.close();
    this.#stack.dispose();
  }

  #open(netns: NetnsHandle, address: Addr, type: number): Fd {
    const fd = this.#stack.use(
      socket({ family: familyNumber(address.family), type, netns, nonblocking: true }),
    );
    setsockopt(fd, SOL.SOCKET, SO.REUSEADDR, 1);
    bind(fd, socketAddress(address, GREETER_PORT));
    return fd;
  }

  #datagrams(fd: Fd, family: 4 | 6): void {
    const answer = () => {
      const asked = recvFrom(fd);
      if (asked !== undefined) send(fd, this.#greeting(addressIn(asked.from, family)), { to: asked.from });
    };
    this.#stack.use(watch(fd, () => tolerantly(answer)));
  }

  #streams(fd: Fd, family: 4 | 6): void {
    listen(fd, 128);
    const take = () => {
      const taken = accept(fd, { nonblocking: true });
      if (taken !== undefined) this.#greet(taken, addressIn(getpeername(taken), family));
    };
    this.#stack.use(watch(fd, () => tolerantly(take)));
  }

  #greet(fd: Fd, from: Addr): void {
    this.#connections.add(fd);
    const end = () => {
      this.#connections.delete(fd);
      fd.close();
    };
    let asked = '';
    tolerantly(() => void send(fd, this.#greeting(from)));
    watch(fd, () => {
      const done = !tolerantly(() => {
        const bytes = recv(fd);
        if (bytes === undefined) return;
        if (bytes.length === 0) return end();
        asked += Buffer.from(bytes).toString('latin1');
        const wanted = /^send (\d{1,12})\n/.exec(asked);
        if (wanted === null) return;
        asked = '';
        void sendPattern(fd, Number(wanted[1])).catch(end);
      });
      if (done) end();
    });
  }

  #greeting(from: Addr): Uint8Array {
    return Buffer.from(`${this.#name} ${from}\n`);
  }
}

async function sendPattern(fd: Fd, total: number): Promise<void> {
  for (let sent = 0; sent < total && !fd.closed; ) {
    try {
      sent += send(fd, patternAt(sent, Math.min(CHUNK, total - sent)));
    } catch (error) {
      if (!SysError.is(error, 'EAGAIN')) throw error;
      await pause(1);
    }
  }
}

/** Whether it went well; what goes wrong with one peer is nothing to a greeter. */
function tolerantly(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof SysError) return false;
    throw error;
  }
}
