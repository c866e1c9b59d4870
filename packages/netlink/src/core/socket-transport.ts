/** Netlink sockets — netlink(7), linux/netlink.h */
import {
  AF,
  closeAside,
  type Fd,
  NETLINK_OPTION,
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
import { type Effort, effortOf } from './effort.ts';
import { NetlinkError } from './netlink-error.ts';
import type { ImmediateTransport, Transport } from './transport.ts';

/** How requests are carried out: inside the call, or on threads of their own. */
export type Mode = 'sync' | 'threaded';

/** A mode, or how to tell which one is right for a request that is about to be made, and takes about so long. */
export type ModeChoice = Mode | ((effort: Effort) => Mode);

/** What a {@link SocketTransport} is opened with. */
export interface SocketOptions {
  /** A number of `NETLINK`. */
  readonly protocol: number;
  /** The namespace to speak to; the caller's own without. */
  readonly netns?: NetnsHandle | undefined;
  readonly mode: ModeChoice;
  /** Leaves what the kernel does when the socket is closed to a process that outlives this one. */
  readonly leaveClose?: boolean;
}

/**
 * A netlink socket in a namespace, opened by the first exchange. It stays in its namespace whichever thread
 * uses it, and keeps the namespace alive until it is closed.
 */
export class SocketTransport implements Transport {
  readonly immediate: ImmediateTransport = {
    suits: (request) => {
      const { mode, protocol } = this.#options;
      const isSync = (typeof mode === 'function' ? mode(effortOf(protocol, request)) : mode) === 'sync';
      // An exchange on another thread may still be under way, begun when that was the mode.
      return isSync && !this.#fd?.isTaken;
    },
    exchange: (request) => transactSync(this.#ready(request.length), request),
  };
  readonly #options: SocketOptions;
  #fd: Fd | undefined;
  #closed = false;
  #receiveBuffer = RECEIVE_BUFFER;
  #sendBuffer = 0;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  async exchange(request: Uint8Array): Promise<Uint8Array[]> {
    const { suits, exchange } = this.immediate;
    return suits(request) ? exchange(request) : transact(this.#ready(request.length), request);
  }

  recover(): void {
    this.#receiveBuffer *= 2;
    this.#sendBuffer = 0;
    this.#fd?.close();
    this.#fd = undefined;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    if (this.#fd !== undefined && this.#options.leaveClose) closeAside(this.#fd);
    else this.#fd?.close();
    this.#fd = undefined;
  }

  /** The socket, with room in its send buffer for a message of so many bytes. */
  #ready(bytes: number): Fd {
    if (this.#closed) throw new NetlinkError('use a session that is closed', EBADF);
    this.#fd ??= this.#open();
    if (bytes > SEND_BUFFER && bytes > this.#sendBuffer) {
      this.#sendBuffer = bytes * 2;
      setBuffer(this.#fd, SO.SNDBUFFORCE, SO.SNDBUF, this.#sendBuffer);
    }
    return this.#fd;
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
      setsockopt(fd, SOL.NETLINK, NETLINK_OPTION.EXT_ACK, 1);
      setsockopt(fd, SOL.NETLINK, NETLINK_OPTION.CAP_ACK, 1);
      setsockopt(fd, SOL.NETLINK, NETLINK_OPTION.GET_STRICT_CHK, 1);
    } catch (error) {
      fd.close();
      throw error;
    }
    return fd;
  }
}

const RECEIVE_BUFFER = 4 * 1024 * 1024;
/** A message must fit into the send buffer; so much fits always, being below the default of net.core.wmem_default. */
const SEND_BUFFER = 128 * 1024;
const EBADF = 9;

/** Sets a buffer's size past the limit of net.core.[rw]mem_max, or up to it without CAP_NET_ADMIN. */
function setBuffer(fd: Fd, force: number, plain: number, bytes: number): void {
  try {
    setsockopt(fd, SOL.SOCKET, force, bytes);
  } catch (error) {
    if (!SysError.is(error, 'EPERM')) throw error;
    setsockopt(fd, SOL.SOCKET, plain, bytes);
  }
}
