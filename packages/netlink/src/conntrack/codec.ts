/** CTA_*: entries of connection tracking — linux/netfilter/nfnetlink_conntrack.h */
import {
  addr4,
  addr6,
  attr,
  attrs,
  cstring,
  headed,
  type Input,
  rest,
  u8,
  u16be,
  u32,
  u32be,
  u64be,
  type Value,
} from '@heddle/wire';
import { NFNL_SUBSYS, nfgenmsg } from '../nft/codec/nfgenmsg.ts';

/** IPCTNL_MSG_CT_*: messages of ctnetlink. */
export const IPCTNL_MSG = { NEW: 0, GET: 1, DELETE: 2 } as const;

/** CTA_IP_*, CTA_PROTO_*, CTA_TUPLE_*: one direction of a flow. Ports and ICMP fields depend on the protocol. */
const tupleAttrs = attrs('CTA_TUPLE', {
  ip: attr(
    1,
    attrs('CTA_IP', {
      src4: attr(1, addr4),
      dst4: attr(2, addr4),
      src6: attr(3, addr6),
      dst6: attr(4, addr6),
    }),
  ),
  proto: attr(
    2,
    attrs('CTA_PROTO', {
      number: attr(1, u8),
      sport: attr(2, u16be),
      dport: attr(3, u16be),
      icmpId: attr(4, u16be),
      icmpType: attr(5, u8),
      icmpCode: attr(6, u8),
      icmpv6Id: attr(7, u16be),
      icmpv6Type: attr(8, u8),
      icmpv6Code: attr(9, u8),
    }),
  ),
  zone: attr(3, u16be),
});

/** What a tuple is written from. */
export type TupleInput = Input<typeof tupleAttrs>;
/** A tuple as it was read. */
export type TupleValue = Value<typeof tupleAttrs>;

const counters = attrs('CTA_COUNTERS', { packets: attr(1, u64be), bytes: attr(2, u64be) });

/** CTA_FILTER_*: which parts of the request's tuples a listing is to compare; bits of CTA_FILTER_FLAG_*. */
const filterAttrs = attrs('CTA_FILTER', { originalFlags: attr(1, u32), replyFlags: attr(2, u32) });

/** CTA_FILTER_F_CTA_* */
export const FILTER_FLAG = {
  IP_SRC: 1,
  IP_DST: 2,
  PROTO_NUM: 8,
  PROTO_SRC_PORT: 16,
  PROTO_DST_PORT: 32,
} as const;

/** An entry: IPCTNL_MSG_CT_NEW, GET, DELETE. */
export const flowMessage = headed(
  nfgenmsg,
  attrs('CTA', {
    original: attr(1, tupleAttrs),
    reply: attr(2, tupleAttrs),
    status: attr(3, u32be),
    protoInfo: attr(4, rest),
    helper: attr(5, attrs('CTA_HELP', { name: attr(1, cstring), info: attr(2, rest) })),
    timeout: attr(7, u32be),
    mark: attr(8, u32be),
    markMask: attr(21, u32be),
    originalCounters: attr(9, counters),
    replyCounters: attr(10, counters),
    use: attr(11, u32be),
    id: attr(12, u32be),
    zone: attr(18, u16be),
    labels: attr(22, rest),
    filter: attr(25, filterAttrs),
  }),
);

/** The type of a ctnetlink message. */
export function ctnetlinkType(message: number): number {
  return (NFNL_SUBSYS.CTNETLINK << 8) | message;
}
