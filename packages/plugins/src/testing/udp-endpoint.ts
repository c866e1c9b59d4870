/** A UDP socket inside a namespace, to see whether a packet arrives. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Addr } from '@heddle/netaddr';
import {
  AF,
  bind,
  type Fd,
  type NetnsHandle,
  recvFrom,
  SOCK,
  SOL,
  send,
  setsockopt,
  socket,
} from '@heddle/sys';
import { decode, encode } from '@heddle/wire';
import { sockaddrIn, sockaddrIn6 } from '@heddle/wire/sockaddr';

/** What arrived at a {@link UdpEndpoint}. */
export interface Datagram {
  readonly text: string;
  readonly from: Addr;
  readonly port: number;
}

/**
 * A bound socket of one family.
 *
 * @example
 * using server = new UdpEndpoint(pod.handle, Addr.parse('10.1.2.3'), 5000);
 * using client = new UdpEndpoint(other.handle, Addr.ZERO4);
 * client.send('hello', Addr.parse('10.1.2.3'), 5000);
 * await server.missing(['hello'], 200); // []
 */
export class UdpEndpoint implements Disposable {
  readonly #fd: Fd;
  readonly #family: 4 | 6;

  /** @param port 0 for any */
  constructor(netns: NetnsHandle, address: Addr, port = 0) {
    const { family } = address;
    this.#family = family;
    const how = { family: family === 4 ? AF.INET : AF.INET6, type: SOCK.DGRAM, nonblocking: true };
    this.#fd = socket({ ...how, netns });
    // Else the socket would take the IPv4 port as well.
    if (family === 6) setsockopt(this.#fd, SOL.IPV6, IPV6_V6ONLY, 1);
    bind(this.#fd, sockaddr(address, port));
  }

  /** Sends one datagram, now. */
  send(text: string, to: Addr, port: number): void {
    send(this.#fd, new TextEncoder().encode(text), { to: sockaddr(to, port) });
  }

  /** The next datagram; `undefined` when none has come in so many milliseconds. */
  async receive(within: number): Promise<Datagram | undefined> {
    const deadline = performance.now() + within;
    for (;;) {
      const received = recvFrom(this.#fd);
      if (received !== undefined) {
        const { port, address } = decode(this.#family === 4 ? sockaddrIn : sockaddrIn6, received.from);
        return { text: new TextDecoder().decode(received.bytes), from: address, port };
      }
      if (performance.now() >= deadline) return undefined;
      await sleep(1);
    }
  }

  /** Waits until all of these texts came in, for so many milliseconds, and returns those that did not. */
  async missing(texts: readonly string[], within: number): Promise<readonly string[]> {
    const wanted = new Set(texts);
    const deadline = performance.now() + within;
    for (let left = within; wanted.size > 0 && left >= 0; left = deadline - performance.now()) {
      wanted.delete((await this.receive(left))?.text ?? '');
    }
    return [...wanted];
  }

  [Symbol.dispose](): void {
    this.#fd[Symbol.dispose]();
  }
}

/** linux/in6.h */
const IPV6_V6ONLY = 26;

function sockaddr(address: Addr, port: number): Uint8Array {
  return address.family === 4
    ? encode(sockaddrIn, { family: AF.INET, port, address })
    : encode(sockaddrIn6, { family: AF.INET6, port, address });
}
