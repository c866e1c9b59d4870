/** `struct nlmsghdr` and its numbers — linux/netlink.h */
import { struct, u16, u32, type Value } from '@heddle/wire';

/** struct nlmsghdr */
export const nlmsghdr = struct('nlmsghdr', { length: u32, type: u16, flags: u16, sequence: u32, port: u32 });
/** A message's header. */
export type MessageHeader = Value<typeof nlmsghdr>;

/** Bytes of a header. */
export const HEADER_SIZE = 16;

/** NETLINK_*: the kernel's netlink families that this package speaks. */
export const NETLINK = { ROUTE: 0, NETFILTER: 12, GENERIC: 16 } as const;

/** NLMSG_*: message types that belong to netlink itself. */
export const NLMSG = { NOOP: 1, ERROR: 2, DONE: 3, OVERRUN: 4 } as const;

/** NLM_F_*: flags of requests and replies. */
export const NLM_F = {
  REQUEST: 0x1,
  MULTI: 0x2,
  ACK: 0x4,
  ECHO: 0x8,
  DUMP_INTR: 0x10,
  REPLACE: 0x100,
  EXCL: 0x200,
  CREATE: 0x400,
  APPEND: 0x800,
  ROOT: 0x100,
  MATCH: 0x200,
  DUMP: 0x300,
  /** On an acknowledgement: the request is not repeated behind the error. */
  CAPPED: 0x100,
  /** On an acknowledgement: extended attributes follow. */
  ACK_TLVS: 0x200,
} as const;
