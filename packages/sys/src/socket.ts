/** Sockets of any family, opened inside a given network namespace. Addresses are raw `struct sockaddr` bytes. */
import { native } from './addon.ts';
import { SO, SOCK, SOL } from './constants.ts';
import { Fd } from './fd.ts';
import type { NetnsHandle } from './netns.ts';

/** What socket(2) takes, and where. */
export interface SocketOptions {
  /** `AF.*` */
  readonly family: number;
  /** `SOCK.*` */
  readonly type: number;
  /** Depends on the family: `NETLINK.*`, or a protocol number in network order for packet sockets. */
  readonly protocol?: number;
  /** The namespace to open it in; the calling thread's own when left out. */
  readonly netns?: NetnsHandle | undefined;
  /** Whether calls return at once instead of waiting. */
  readonly nonblocking?: boolean;
}

/** What a process on the other end of a Unix socket was when it connected. */
export interface PeerCredentials {
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Opens a socket. It belongs to its namespace for life, and keeps that namespace alive.
 *
 * @example using route = socket({ family: AF.NETLINK, type: SOCK.RAW, protocol: NETLINK.ROUTE, netns });
 */
export function socket(options: SocketOptions): Fd {
  const { family, type, protocol = 0, netns, nonblocking = false } = options;
  const flags = nonblocking ? SOCK.NONBLOCK : 0;
  return new Fd(native().socket(netns?.number ?? -1, family, type | flags, protocol));
}

/** Names the socket's own end. */
export function bind(fd: Fd, address: Uint8Array): void {
  native().bind(fd.number, address);
}

/** Names the socket's other end. */
export function connect(fd: Fd, address: Uint8Array): void {
  native().connect(fd.number, address);
}

/** Makes the socket take connections. */
export function listen(fd: Fd, backlog: number): void {
  native().listen(fd.number, backlog);
}

/** The next connection; undefined when a non-blocking socket has none. */
export function accept(fd: Fd, options: { readonly nonblocking?: boolean } = {}): Fd | undefined {
  const peer = native().accept(fd.number, options.nonblocking === true ? SOCK.NONBLOCK : 0);
  return peer === undefined ? undefined : new Fd(peer);
}

/** Sends and says how many bytes were taken. A broken connection is EPIPE, never a signal. */
export function send(
  fd: Fd,
  bytes: Uint8Array,
  options: { readonly to?: Uint8Array; readonly flags?: number } = {},
): number {
  return native().send(fd.number, bytes, options.flags ?? 0, options.to ?? NO_ADDRESS);
}

/**
 * Receives: the next datagram, whole when `max` is left out, or what a stream has (none at its end).
 *
 * @returns undefined when it would block.
 */
export function recv(fd: Fd, max?: number, flags = 0): Uint8Array | undefined {
  return native().recv(fd.number, max ?? WHOLE, flags)?.[0];
}

/** As {@link recv}, with the sender's address. */
export function recvFrom(
  fd: Fd,
  max?: number,
  flags = 0,
): { readonly bytes: Uint8Array; readonly from: Uint8Array } | undefined {
  const received = native().recv(fd.number, max ?? WHOLE, flags);
  return received === undefined ? undefined : { bytes: received[0], from: received[1] };
}

/**
 * Sends to a Unix socket, with descriptors that the other end gets copies of (SCM_RIGHTS), at most 16. They come along
 * with the first byte.
 *
 * @returns how many bytes were taken
 */
export function sendDescriptors(fd: Fd, bytes: Uint8Array, descriptors: readonly Fd[]): number {
  const numbers = Int32Array.from(descriptors, ({ number }) => number);
  return native().sendDescriptors(fd.number, bytes, new Uint8Array(numbers.buffer));
}

/**
 * Receives from a Unix socket, with the descriptors that were sent along (SCM_RIGHTS): up to 16 of one message, any
 * more are closed. They are the caller's, to close or to keep.
 *
 * @returns undefined when it would block.
 */
export function recvDescriptors(
  fd: Fd,
  max: number,
): { readonly bytes: Uint8Array; readonly descriptors: readonly Fd[] } | undefined {
  const received = native().recvDescriptors(fd.number, max);
  return received && { bytes: received[0], descriptors: received[1].map((number) => new Fd(number)) };
}

/** Sets an option; a number is passed as a C `int`. */
export function setsockopt(fd: Fd, level: number, name: number, value: number | Uint8Array): void {
  native().setsockopt(fd.number, level, name, typeof value === 'number' ? intBytes(value) : value);
}

/**
 * Has the kernel drop what a classic BPF program refuses, before it is queued.
 *
 * @param program the instructions, `struct sock_filter` (linux/filter.h) one behind the other
 * @throws SysError EINVAL when the kernel does not accept the program.
 */
export function attachFilter(fd: Fd, program: Uint8Array): void {
  native().attachFilter(fd.number, program);
}

/** Gets an option that is a C `int`. */
export function getsockopt(fd: Fd, level: number, name: number): number {
  return ints(native().getsockopt(fd.number, level, name, ROOM))[0] ?? 0;
}

/**
 * The number of the network namespace that the socket is in. Unlike an inode, it is never given again while the
 * machine runs (SO_NETNS_COOKIE).
 *
 * @throws SysError ENOPROTOOPT on a kernel before 5.14.
 */
export function netnsCookie(fd: Fd): bigint {
  const bytes = native().getsockopt(fd.number, SOL.SOCKET, SO.NETNS_COOKIE, 8);
  return new BigUint64Array(bytes.slice().buffer)[0] ?? 0n;
}

/** The socket's own end, as `struct sockaddr`. */
export function getsockname(fd: Fd): Uint8Array {
  return native().getsockname(fd.number);
}

/** The other end of a connected socket, as `struct sockaddr`. @throws SysError ENOTCONN when it has none */
export function getpeername(fd: Fd): Uint8Array {
  return native().getpeername(fd.number);
}

/** Who is at the other end of a connected Unix socket. */
export function peerCredentials(fd: Fd): PeerCredentials {
  const [pid = 0, uid = 0, gid = 0] = ints(native().getsockopt(fd.number, SOL.SOCKET, SO.PEERCRED, ROOM));
  return { pid, uid: uid >>> 0, gid: gid >>> 0 };
}

/**
 * ioctl(2) with a flat structure: the bytes go in, and come back as the kernel left them.
 *
 * @example ioctl(tun, TUNSETIFF, ifreq)
 */
export function ioctl(fd: Fd, request: number, argument: Uint8Array): Uint8Array {
  return native().ioctl(fd.number, request, argument);
}

/**
 * ioctl(2) with a number instead of a structure, from 0 to 2³²−1. Returns what the kernel does.
 *
 * @example ioctlValue(tun, TUNSETOWNER, 1000)
 */
export function ioctlValue(fd: Fd, request: number, value: number): number {
  return native().ioctlValue(fd.number, request, value);
}

/**
 * SIOCETHTOOL on a link of the socket's namespace: the command's structure (linux/ethtool.h) goes in and comes back.
 *
 * @throws SysError ENODEV when there is no such link; EOPNOTSUPP when it cannot do that.
 */
export function ethtool(fd: Fd, ifname: string, command: Uint8Array): Uint8Array {
  return native().ethtool(fd.number, ifname, command);
}

const NO_ADDRESS = new Uint8Array(0);
const WHOLE = -1;
/** As much as any option needs that is not picky. */
const ROOM = 256;

function intBytes(value: number): Uint8Array {
  return new Uint8Array(Int32Array.of(value).buffer);
}

function ints(bytes: Uint8Array): Int32Array {
  // A flag that the kernel gives in one byte is widened.
  const whole = new Uint8Array(Math.max(4, bytes.length - (bytes.length % 4)));
  whole.set(bytes.subarray(0, whole.length));
  return new Int32Array(whole.buffer);
}
