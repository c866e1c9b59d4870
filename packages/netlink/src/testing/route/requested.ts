/** What a request about a route asks for — rtm_to_fib_config, rtm_to_fib6_config */
import { Addr, Prefix } from '@heddle/netaddr';
import { decode } from '@heddle/wire';
import { type Family, familyOf } from '../../core/family.ts';
import { type RouteMessage, RT_TABLE, RTNH_F, RTPROT, routeMessage } from '../../route/codec.ts';
import { refuse, refuseUnknown, unsupported } from '../core/refusal.ts';
import type { WantedHop } from './gateways.ts';
import type { RouteRecord } from './record.ts';

/** The route, its ways unchecked. A metric of 0 is none given. */
export type WantedRoute = Omit<RouteRecord, 'hops'> & { readonly hops: readonly WantedHop[] };

/** Reads a request. */
export function requestedRoute(body: Uint8Array): WantedRoute {
  const message = decode(routeMessage, body);
  refuseUnknown('RTA', message);
  const family = familyOf(message.family) ?? refuse('EOPNOTSUPP');
  const { attributes: a } = message;
  if (a.nexthopId !== undefined) unsupported('nexthop objects');
  if (a.encapType !== undefined) unsupported('routes with encapsulation');
  if (a.metrics?.congestionControl !== undefined) unsupported('congestion control of routes');
  const dst = prefixOf(family, a.dst, message.dstLength);
  const src = message.srcLength > 0 ? prefixOf(family, a.src, message.srcLength) : undefined;
  if (family === 4 && src !== undefined) refuse('EINVAL', 'Invalid source address length');
  return {
    family,
    dst,
    ...(src && { src }),
    table: a.table ?? (message.table === RT_TABLE.UNSPEC ? RT_TABLE.MAIN : message.table),
    tos: message.tos,
    protocol: message.protocol,
    scope: message.scope,
    type: message.type,
    metric: a.priority ?? 0,
    hops: hopsOf(message),
    ...(a.prefsrc && { source: a.prefsrc }),
    ...(a.metrics && { metrics: a.metrics }),
    ...(a.preference !== undefined && { preference: a.preference }),
  };
}

/** The same for a route that is to be made, with what the kernel fills in. */
export function newRoute(body: Uint8Array): WantedRoute {
  const route = requestedRoute(body);
  const { protocol, type } = route;
  if (route.family === 4) return { ...route, protocol: protocol === RTPROT.UNSPEC ? RTPROT.BOOT : protocol };
  return {
    ...route,
    // IPv6 knows no scopes of routes.
    scope: 0,
    type: type === 'unspec' ? 'unicast' : type,
    metric: route.metric === 0 ? USER_METRIC : route.metric,
    protocol: protocol === RTPROT.UNSPEC ? RTPROT.BOOT : protocol,
  };
}

/** IP6_RT_PRIO_USER */
const USER_METRIC = 1024;

function hopsOf({ flags, attributes: a }: RouteMessage): readonly WantedHop[] {
  if (a.multipath !== undefined) {
    return a.multipath.map(({ index, hops, flags, attributes: { gateway, via } }) => ({
      link: index,
      weight: hops + 1,
      onlink: (flags & RTNH_F.ONLINK) !== 0,
      ...(gateway && { gateway }),
      ...(via && { via }),
    }));
  }
  if (a.oif === undefined && a.gateway === undefined && a.via === undefined) return [];
  const onlink = (flags & RTNH_F.ONLINK) !== 0;
  return [
    {
      link: a.oif ?? 0,
      weight: 1,
      onlink,
      ...(a.gateway && { gateway: a.gateway }),
      ...(a.via && { via: a.via }),
    },
  ];
}

function prefixOf(family: Family, addr: Addr | undefined, bits: number): Prefix {
  const zero = family === 4 ? Addr.ZERO4 : Addr.ZERO6;
  if (bits > zero.bits) refuse('EINVAL', 'Invalid prefix length');
  const prefix = Prefix.of(addr ?? zero, bits);
  if (family === 4 && prefix.hasHostBits) refuse('EINVAL', 'Invalid prefix for given prefix length');
  return prefix.masked();
}
