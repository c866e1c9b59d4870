/** Netlink sockets — netlink(7), linux/netlink.h */
import {
  AF,
  type Fd,
  NETLINK,
  type NetnsHandle,
  SO,
  SOCK,
  SOL,
  SysError,
  setsockopt,
  socket,
  transact,
  transactSync,
} from '@heddle/sys';
import type { Transport } from './transport.ts';

/** How requests are carried out: inside the call, or on threads of their own. */
export type Mode = 'sync' | 'threaded';

/** What a {@link SocketTransport} is opened with. */
export interface SocketOptions {
  /** A number of `NETLINK`. */
  readonly protocol: number;
  /** The namespace to speak to; the caller's own without. */
  readonly netns?: NetnsHandle | undefined;
  readonly mode: Mode;
}

/**
 * A netlink socket in a namespace. It stays there whichever thread uses it, and keeps the namespace alive
 * until it is closed.
 */
export class SocketTransport implements Transport {
  readonly #options: SocketOptions;
  #fd: Fd;
  #receiveBuffer = RECEIVE_BUFFER;
  #sendBuffer = 0;
  /** Ends when the exchange before does. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: SocketOptions) {
    this.#options = options;
    this.#fd = this.#open();
  }

  exchange(request: Uint8Array): Promise<Uint8Array[]> {
    if (this.#options.mode === 'sync') return this.#now(request);
    const done = this.#turn.then(() => {
      this.#makeRoom(request.length);
      return transact(this.#fd, request);
    });
    this.#turn = done.catch(() => undefined);
    return done;
  }

  recover(): void {
    this.#receiveBuffer *= 2;
    this.#sendBuffer = 0;
    const fresh = this.#open();
    this.#fd.close();
    this.#fd = fresh;
  }

  [Symbol.dispose](): void {
    this.#fd.close();
  }

  async #now(request: Uint8Array): Promise<Uint8Array[]> {
    this.#makeRoom(request.length);
    return transactSync(this.#fd, request);
  }

  #open(): Fd {
    const { protocol, netns } = this.#options;
    const fd = socket({
      family: AF.NETLINK,
      type: SOCK.RAW,
      protocol,
      ...(netns === undefined ? {} : { netns }),
    });
    try {
      setBuffer(fd, SO.RCVBUFFORCE, SO.RCVBUF, this.#receiveBuffer);
      setsockopt(fd, SOL.NETLINK, NETLINK.EXT_ACK, 1);
      setsockopt(fd, SOL.NETLINK, NETLINK.CAP_ACK, 1);
      setsockopt(fd, SOL.NETLINK, NETLINK.GET_STRICT_CHK, 1);
    } catch (error) {
      fd.close();
      throw error;
    }
    return fd;
  }

  /** The kernel refuses a message that is larger than the send buffer. */
  #makeRoom(bytes: number): void {
    if (bytes <= SEND_BUFFER || bytes <= this.#sendBuffer) return;
    this.#sendBuffer = bytes * 2;
    setBuffer(this.#fd, SO.SNDBUFFORCE, SO.SNDBUF, this.#sendBuffer);
  }
}

const RECEIVE_BUFFER = 4 * 1024 * 1024;
/** Always there: below the default of net.core.wmem_default. */
const SEND_BUFFER = 128 * 1024;

/** Sets a buffer's size past the limit of net.core.[rw]mem_max, or up to it without CAP_NET_ADMIN. */
function setBuffer(fd: Fd, force: number, plain: number, bytes: number): void {
  try {
    setsockopt(fd, SOL.SOCKET, force, bytes);
  } catch (error) {
    if (!SysError.is(error, 'EPERM')) throw error;
    setsockopt(fd, SOL.SOCKET, plain, bytes);
  }
}
