/**
 * The kernel's numbers that callers of this package need, in the kernel's spelling without the prefix.
 * The same on x64 and arm64 unless noted. Sources: the headers named at each table.
 */

/** Address families (linux/socket.h). */
export const AF = { UNSPEC: 0, UNIX: 1, INET: 2, INET6: 10, NETLINK: 16, PACKET: 17, BRIDGE: 7 } as const;

/** Socket types (linux/net.h). */
export const SOCK = { STREAM: 1, DGRAM: 2, RAW: 3, SEQPACKET: 5, NONBLOCK: 0o4000 } as const;

/** Levels of socket options. */
export const SOL = { IP: 0, SOCKET: 1, TCP: 6, IPV6: 41, ICMPV6: 58, PACKET: 263, NETLINK: 270 } as const;

/** Options at level SOL.SOCKET (asm-generic/socket.h). */
export const SO = {
  REUSEADDR: 2,
  TYPE: 3,
  ERROR: 4,
  BROADCAST: 6,
  SNDBUF: 7,
  RCVBUF: 8,
  PEERCRED: 17,
  RCVTIMEO: 20,
  SNDTIMEO: 21,
  BINDTODEVICE: 25,
  ATTACH_FILTER: 26,
  SNDBUFFORCE: 32,
  RCVBUFFORCE: 33,
  DOMAIN: 39,
  NETNS_COOKIE: 71,
} as const;

/** Netlink protocols (linux/netlink.h). */
export const NETLINK = {
  ROUTE: 0,
  SOCK_DIAG: 4,
  XFRM: 6,
  NETFILTER: 12,
  KOBJECT_UEVENT: 15,
  GENERIC: 16,
} as const;

/** Options at level SOL.NETLINK (linux/netlink.h). */
export const NETLINK_OPTION = {
  ADD_MEMBERSHIP: 1,
  DROP_MEMBERSHIP: 2,
  PKTINFO: 3,
  BROADCAST_ERROR: 4,
  NO_ENOBUFS: 5,
  LISTEN_ALL_NSID: 8,
  LIST_MEMBERSHIPS: 9,
  CAP_ACK: 10,
  EXT_ACK: 11,
  GET_STRICT_CHK: 12,
} as const;

/** Flags of open(2). DIRECTORY, NOFOLLOW and TMPFILE differ between architectures. */
export const O = {
  RDONLY: 0,
  WRONLY: 0o1,
  RDWR: 0o2,
  CREAT: 0o100,
  EXCL: 0o200,
  TRUNC: 0o1000,
  APPEND: 0o2000,
  NONBLOCK: 0o4000,
  PATH: 0o10000000,
  ...(process.arch === 'arm64'
    ? { DIRECTORY: 0o40000, NOFOLLOW: 0o100000, TMPFILE: 0o20040000 }
    : { DIRECTORY: 0o200000, NOFOLLOW: 0o400000, TMPFILE: 0o20200000 }),
} as const;

/** Events and flags of inotify (linux/inotify.h). */
export const IN = {
  ACCESS: 0x1,
  MODIFY: 0x2,
  ATTRIB: 0x4,
  CLOSE_WRITE: 0x8,
  CLOSE_NOWRITE: 0x10,
  OPEN: 0x20,
  MOVED_FROM: 0x40,
  MOVED_TO: 0x80,
  CREATE: 0x100,
  DELETE: 0x200,
  DELETE_SELF: 0x400,
  MOVE_SELF: 0x800,
  UNMOUNT: 0x2000,
  Q_OVERFLOW: 0x4000,
  IGNORED: 0x8000,
  ONLYDIR: 0x1000000,
  ISDIR: 0x40000000,
} as const;

/** Flags of send(2) and recv(2) (linux/socket.h). */
export const MSG = { PEEK: 0x2, TRUNC: 0x20, DONTWAIT: 0x40, NOSIGNAL: 0x4000 } as const;

/** Flags of mount(2) (linux/mount.h). */
export const MS = {
  RDONLY: 0x1,
  REMOUNT: 0x20,
  BIND: 0x1000,
  REC: 0x4000,
  PRIVATE: 0x40000,
  SHARED: 0x100000,
} as const;

/** Flags of umount2(2). */
export const MNT = { DETACH: 2 } as const;
