/**
 * Asking for an echo: one small packet out of a namespace, and whether it comes back. Nobody but the one who is asked
 * takes notice, and nothing is remembered of it.
 */
import type { Addr } from '@heddle/netaddr';
import {
  AF,
  type Fd,
  type NetnsHandle,
  recv,
  SOCK,
  SOL,
  SysError,
  send,
  setsockopt,
  socket,
  watch,
} from '@heddle/sys';
import { echoRequest, HEADERS, readAnswer } from './icmp.ts';
import { socketAddress } from './socket-address.ts';

/** What became of a request. */
export type EchoResult =
  | { readonly kind: 'reply' }
  /** Somebody on the way refused it. */
  | { readonly kind: 'error'; readonly reason: string; readonly from?: Addr; readonly mtu?: number }
  /** This machine did not send it. */
  | { readonly kind: 'unsent'; readonly errno: string }
  /** Nothing came back in time. */
  | { readonly kind: 'silence' };

/** What to ask. */
export interface EchoQuestion {
  readonly target: Addr;
  /** The index of the link that a link-local target is on. */
  readonly link?: number | undefined;
  /** Bytes of the whole IP packet; a small one when left out. */
  readonly size?: number;
  /** How long to wait, in milliseconds. */
  readonly wait: number;
}

/** Asks from one namespace, in one family. Packets are never fragmented, whatever the kernel knows of the path. */
export class EchoProbe implements Disposable {
  readonly #family: 4 | 6;
  readonly #fd: Fd;
  readonly #watching: Disposable;
  readonly #id: number;
  readonly #waiting = new Map<number, (result: EchoResult) => void>();
  #sequence = 0;

  /** @param id what tells this probe's requests from others', 0 to 65535 */
  constructor(netns: NetnsHandle, family: 4 | 6, id: number) {
    this.#family = family;
    this.#id = id;
    const [domain, protocol] = family === 4 ? [AF.INET, IPPROTO_ICMP] : [AF.INET6, IPPROTO_ICMPV6];
    this.#fd = socket({ family: domain, type: SOCK.RAW, protocol, netns, nonblocking: true });
    const [level, option] = family === 4 ? [SOL.IP, IP_MTU_DISCOVER] : [SOL.IPV6, IPV6_MTU_DISCOVER];
    setsockopt(this.#fd, level, option, PMTUDISC_PROBE);
    this.#watching = watch(this.#fd, () => this.#receive(), { unref: true });
  }

  /** What tells this probe's requests from others'. */
  get id(): number {
    return this.#id;
  }

  /** Asks once. */
  async ask({ target, link, size, wait }: EchoQuestion): Promise<EchoResult> {
    const sequence = this.#sequence++ & 0xffff;
    const payload = Math.max(0, (size ?? HEADERS[this.#family] + SMALL) - HEADERS[this.#family]);
    const { promise, resolve } = Promise.withResolvers<EchoResult>();
    const timer = setTimeout(() => resolve({ kind: 'silence' }), wait);
    this.#waiting.set(sequence, resolve);
    try {
      const request = echoRequest(this.#family, { id: this.#id, sequence, payload });
      send(this.#fd, request, { to: socketAddress(target, link) });
      return await promise;
    } catch (error) {
      if (!(error instanceof SysError)) throw error;
      return { kind: 'unsent', errno: error.errno };
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(sequence);
    }
  }

  /** Asks until there is an answer, so many times at most: a first packet may wait for a neighbour's address. */
  async askUntil(question: EchoQuestion, times: number): Promise<EchoResult> {
    let result = await this.ask(question);
    for (let asked = 1; asked < times && result.kind === 'silence'; asked++)
      result = await this.ask(question);
    return result;
  }

  #receive(): void {
    for (let packet = take(this.#fd); packet !== undefined; packet = take(this.#fd)) {
      const answer = readAnswer(this.#family, packet);
      if (answer === undefined || answer.id !== this.#id) continue;
      const { id: _id, sequence, ...result } = answer;
      this.#waiting.get(sequence)?.(result);
    }
  }

  [Symbol.dispose](): void {
    this.#watching[Symbol.dispose]();
    this.#fd.close();
  }
}

/** What the kernel had to report of the socket (a link that went down) is no packet. */
function take(fd: Fd): Uint8Array | undefined {
  try {
    return fd.closed ? undefined : recv(fd);
  } catch (error) {
    if (error instanceof SysError) return undefined;
    throw error;
  }
}

const SMALL = 8;
const IPPROTO_ICMP = 1;
const IPPROTO_ICMPV6 = 58;
/** linux/in.h, linux/in6.h: never fragment, and do not believe what was learned of the path */
const IP_MTU_DISCOVER = 10;
const IPV6_MTU_DISCOVER = 23;
const PMTUDISC_PROBE = 3;
