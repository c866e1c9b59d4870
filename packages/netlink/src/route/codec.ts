/** struct rtmsg, struct rtnexthop, RTA_*, RTAX_* — linux/rtnetlink.h */

import type { Addr } from '@heddle/netaddr';
import {
  addr,
  attr,
  attrs,
  bool,
  type Codec,
  cstring,
  encode,
  headed,
  i32,
  need,
  oneOf,
  struct,
  u8,
  u16,
  u32,
  type Value,
  WireError,
} from '@heddle/wire';
import { afOf } from '../core/family.ts';
import { encapFields } from './encap.ts';

/** RTN_*: what a route does with a packet. */
const routeType = oneOf(u8, {
  unspec: 0,
  unicast: 1,
  local: 2,
  broadcast: 3,
  anycast: 4,
  multicast: 5,
  blackhole: 6,
  unreachable: 7,
  prohibit: 8,
  throw: 9,
});

/** struct rtmsg */
const rtmsg = struct('rtmsg', {
  family: u8,
  dstLength: u8,
  srcLength: u8,
  tos: u8,
  table: u8,
  protocol: u8,
  scope: u8,
  type: routeType,
  flags: u32,
});

/** struct rtvia: an address of another family than the route's */
const via: Codec<Addr> = {
  name: 'rtvia',
  size: undefined,
  read(window, start, end) {
    need('rtvia', 2, start, end);
    return addr.read(window, start + 2, end);
  },
  write(writer, address) {
    u16.write(writer, afOf(address.family));
    addr.write(writer, address);
  },
};

/** RTAX_* */
const metrics = attrs('RTAX', {
  lock: attr(1, u32),
  mtu: attr(2, u32),
  window: attr(3, u32),
  rtt: attr(4, u32),
  rttVariance: attr(5, u32),
  slowStartThreshold: attr(6, u32),
  congestionWindow: attr(7, u32),
  advmss: attr(8, u32),
  reordering: attr(9, u32),
  hopLimit: attr(10, u32),
  initialCongestionWindow: attr(11, u32),
  features: attr(12, u32),
  minimumRto: attr(13, u32),
  initialReceiveWindow: attr(14, u32),
  quickAck: attr(15, u32),
  congestionControl: attr(16, cstring),
  fastOpenNoCookie: attr(17, u32),
});
/** Properties of the path, RTAX_*. `mtu` and `advmss` are in bytes. */
export type RouteMetrics = Omit<Value<typeof metrics>, 'unknown'>;

const nexthopFields = { gateway: attr(5, addr), via: attr(18, via) } as const;
const nexthopAttrs = attrs('RTA', nexthopFields);

/** struct rtnexthop, with the attributes that belong to it */
export interface NexthopMessage {
  readonly flags: number;
  /** The weight less one. */
  readonly hops: number;
  readonly index: number;
  readonly attributes: Value<typeof nexthopAttrs>;
}

const rtnexthop = struct('rtnexthop', { length: u16, flags: u8, hops: u8, index: i32 });
const RTNEXTHOP_SIZE = 8;

const nexthops: Codec<readonly NexthopMessage[]> = {
  name: 'rtnexthop[]',
  size: undefined,
  read(window, start, end) {
    const found: NexthopMessage[] = [];
    for (let at = start; at < end; ) {
      const { length, ...hop } = rtnexthop.read(window, at, end);
      if (length < RTNEXTHOP_SIZE || length > end - at) {
        throw new WireError('rtnexthop', at, `has length ${length} where ${end - at} bytes are left`);
      }
      const attributes = nexthopAttrs.read(window, at + RTNEXTHOP_SIZE, at + length);
      found.push({ ...hop, attributes });
      at += (length + 3) & ~3;
    }
    return found;
  },
  write(writer, hops) {
    for (const { attributes, ...hop } of hops) {
      const tail = encode(nexthopAttrs, attributes);
      rtnexthop.write(writer, { ...hop, length: RTNEXTHOP_SIZE + tail.length });
      writer.append(tail);
    }
  },
};

/** struct rta_cacheinfo */
const cacheInfo = struct('rta_cacheinfo', {
  clntref: u32,
  lastUse: u32,
  expires: i32,
  error: u32,
  used: u32,
  id: u32,
  ts: u32,
  tsage: u32,
});

/** A message about a route, both ways. */
export const routeMessage = headed(
  rtmsg,
  attrs('RTA', {
    dst: attr(1, addr),
    src: attr(2, addr),
    iif: attr(3, u32),
    oif: attr(4, u32),
    ...nexthopFields,
    priority: attr(6, u32),
    prefsrc: attr(7, addr),
    metrics: attr(8, metrics),
    multipath: attr(9, nexthops),
    cacheInfo: attr(12, cacheInfo),
    table: attr(15, u32),
    mark: attr(16, u32),
    preference: attr(20, u8),
    ...encapFields,
    expires: attr(23, u32),
    uid: attr(25, u32),
    ttlPropagate: attr(26, bool(u8)),
    ipProtocol: attr(27, u8),
    nexthopId: attr(30, u32),
  }),
);
/** A route as the kernel describes it. */
export type RouteMessage = Value<typeof routeMessage>;

/** RTM_F_* */
export const RTM_F = { CLONED: 0x200, LOOKUP_TABLE: 0x1000 } as const;
/** RTNH_F_* */
export const RTNH_F = { ONLINK: 4 } as const;
/** RT_TABLE_* */
export const RT_TABLE = { UNSPEC: 0, DEFAULT: 253, MAIN: 254, LOCAL: 255 } as const;
/** How far away what an address or a route leads to is: RT_SCOPE_*, linux/rtnetlink.h. */
export const RT_SCOPE = { UNIVERSE: 0, SITE: 200, LINK: 253, HOST: 254, NOWHERE: 255 } as const;
/** RTPROT_* */
export const RTPROT = { UNSPEC: 0, REDIRECT: 1, KERNEL: 2, BOOT: 3, STATIC: 4 } as const;
