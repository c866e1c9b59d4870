/** A route as users see it. */
import { Addr, type Prefix } from '@heddle/netaddr';
import type { LinkRef } from '../core/change.ts';
import { type Family, familyOf } from '../core/family.ts';
import { prefixOf } from '../core/prefix-of.ts';
import { type NexthopMessage, type RouteMessage, type RouteMetrics, RTNH_F } from './codec.ts';
import { encapOf, type RouteEncap } from './encap.ts';

/** What a route does with a packet, RTN_*. */
export type RouteType =
  | 'unicast'
  | 'local'
  | 'broadcast'
  | 'anycast'
  | 'multicast'
  | 'blackhole'
  | 'unreachable'
  | 'prohibit'
  | 'throw'
  | 'unspec'
  | number;

/** An entry of a routing table. */
export interface Route {
  readonly family: Family;
  /** Where to; the default route is `0.0.0.0/0` or `::/0`. */
  readonly dst: Prefix;
  /** Where from, for source-specific IPv6 routes. */
  readonly src?: Prefix;
  readonly gateway?: Addr;
  /** A gateway of the other family. */
  readonly via?: Addr;
  /** Index of the link that packets leave by. */
  readonly link?: number;
  /** The source address of packets from this host, RTA_PREFSRC. */
  readonly source?: Addr;
  readonly metric?: number;
  /** 254 is the main table, 255 the local one. */
  readonly table: number;
  /** RT_SCOPE_*: 0 universe, 253 link, 254 host, 255 nowhere. */
  readonly scope: number;
  /** RTPROT_*: who made it; 2 the kernel, 3 "boot". */
  readonly protocol: number;
  readonly type: RouteType;
  /** RTNH_F_* and RTM_F_* */
  readonly flags: number;
  /** Whether the gateway is taken to be on the link, whatever the addresses say. */
  readonly onlink: boolean;
  readonly metrics?: RouteMetrics;
  /** What its packets travel in, on a link that leaves that to routes. */
  readonly encap?: RouteEncap;
  /** Several ways, where there is more than one; then `gateway` and `link` are absent. */
  readonly nexthops?: readonly Nexthop[];
}

/** One of several ways of a route. */
export interface Nexthop {
  readonly gateway?: Addr | undefined;
  /** A gateway of the other family. */
  readonly via?: Addr | undefined;
  readonly link: number;
  /** Share of the traffic, 1 to 256. */
  readonly weight: number;
  readonly onlink?: boolean | undefined;
}

/** A route to make or to delete. Host bits of `dst` are dropped. */
export interface RouteSpec {
  readonly dst: Prefix;
  readonly src?: Prefix | undefined;
  readonly gateway?: Addr | undefined;
  readonly via?: Addr | undefined;
  readonly link?: LinkRef | undefined;
  readonly source?: Addr | undefined;
  readonly metric?: number | undefined;
  /** Main (254) when left out. */
  readonly table?: number | undefined;
  /** RT_SCOPE_*. Left out: universe (0) for a new route, any for a deletion; `any` is for deletions. */
  readonly scope?: number | 'any' | undefined;
  /** RTPROT_*. Left out: boot (3) for a new route, any for a deletion. */
  readonly protocol?: number | undefined;
  /** Left out: unicast for a new route, any for a deletion. */
  readonly type?: RouteType | undefined;
  readonly onlink?: boolean | undefined;
  readonly metrics?: RouteMetrics | undefined;
  /** What its packets travel in, on a link that leaves that to routes. */
  readonly encap?: RouteEncap | undefined;
  readonly nexthops?: readonly (Omit<Nexthop, 'link' | 'weight'> & {
    readonly link?: LinkRef | undefined;
    /** 1 when left out. */
    readonly weight?: number | undefined;
  })[];
}

/** The route that a message describes; `undefined` for families other than IP, such as multicast routing. */
export function routeOf(message: RouteMessage): Route | undefined {
  const family = familyOf(message.family);
  if (family === undefined) return undefined;
  const { attributes: a, flags } = message;
  const encap = encapOf(a);
  const zero = family === 4 ? Addr.ZERO4 : Addr.ZERO6;
  return {
    family,
    dst: prefixOf(a.dst ?? zero, message.dstLength, 'rtmsg'),
    ...(a.src && { src: prefixOf(a.src, message.srcLength, 'rtmsg', 2) }),
    ...(a.gateway && { gateway: a.gateway }),
    ...(a.via && { via: a.via }),
    ...(a.oif !== undefined && { link: a.oif }),
    ...(a.prefsrc && { source: a.prefsrc }),
    ...(a.priority !== undefined && { metric: a.priority }),
    table: a.table ?? message.table,
    scope: message.scope,
    protocol: message.protocol,
    type: message.type,
    flags,
    onlink: (flags & RTNH_F.ONLINK) !== 0,
    ...(a.metrics && { metrics: a.metrics }),
    ...(encap && { encap }),
    ...(a.multipath && { nexthops: a.multipath.map(nexthopOf) }),
  };
}

function nexthopOf({ index, hops, flags, attributes: { gateway, via } }: NexthopMessage): Nexthop {
  return {
    ...(gateway && { gateway }),
    ...(via && { via }),
    link: index,
    weight: hops + 1,
    onlink: (flags & RTNH_F.ONLINK) !== 0,
  };
}
