/** Whether a route's ways can be gone — fib_check_nh in net/ipv4/fib_semantics.c, fib6_nh_init in net/ipv6/route.c */
import type { Addr } from '@heddle/netaddr';
import { RT_SCOPE, RT_TABLE } from '../../route/codec.ts';
import { isDisabled } from '../address/ipv6.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import type { LinkRecord } from '../link/record.ts';
import { addressType, isOwn, lookup, lookupTable } from './lookup.ts';
import type { HopRecord } from './record.ts';
import { tableOf } from './store.ts';

/** A way as it is asked for; a link of 0 is to be found. */
export type WantedHop = Omit<HopRecord, 'link'> & { readonly link: number };

/** What of the route matters to its ways. */
export interface HopContext {
  readonly table: number;
  readonly scope: number;
}

/** The way of an IPv4 route, with its link. */
export function checkHop4(namespace: Namespace, hop: WantedHop, context: HopContext): HopRecord {
  if (context.scope === RT_SCOPE.HOST) {
    if (hop.gateway !== undefined) refuse('EINVAL', 'Route with host scope can not have a gateway');
    return { ...hop, link: existing(namespace, hop.link).index };
  }
  if (hop.via !== undefined) return { ...hop, link: checkGateway6(namespace, hop, hop.via, context).index };
  if (hop.gateway !== undefined) return { ...hop, link: checkGateway4(namespace, hop, hop.gateway, context) };
  if (hop.onlink) refuse('EINVAL', 'Invalid flags for nexthop - PERVASIVE and ONLINK can not be set');
  const link = existing(namespace, hop.link);
  if (!link.up) refuse('ENETDOWN', 'Device for nexthop is not up');
  return hop;
}

/** The way of an IPv6 route, with its link. */
export function checkHop6(namespace: Namespace, hop: WantedHop, context: HopContext): HopRecord {
  const { gateway } = hop;
  if (gateway !== undefined) return { ...hop, link: checkGateway6(namespace, hop, gateway, context).index };
  if (hop.onlink && hop.link === 0) refuse('ENODEV', 'Nexthop device required for onlink');
  if (hop.link === 0) refuse('ENODEV');
  return { ...hop, link: upForIpv6(namespace, existing(namespace, hop.link)).index };
}

function checkGateway4(
  namespace: Namespace,
  hop: WantedHop,
  gateway: Addr,
  { table, scope }: HopContext,
): number {
  if (hop.onlink) {
    if (scope >= RT_SCOPE.LINK) refuse('EINVAL', 'Nexthop has invalid scope');
    const link = namespace.links.get(hop.link) ?? refuse('ENODEV', 'Nexthop device required for onlink');
    if (!link.up) refuse('ENETDOWN', 'Nexthop device is not up');
    const local = tableOf(namespace, link, RT_TABLE.LOCAL);
    if (addressType(namespace, gateway, local) !== 'unicast') refuse('EINVAL', 'Nexthop has invalid gateway');
    return link.index;
  }
  const packet = { dst: gateway, oif: hop.link, scope: Math.max(scope + 1, RT_SCOPE.LINK) };
  const own = table === RT_TABLE.MAIN ? undefined : lookupTable(namespace, table, packet);
  const found = own?.route === undefined ? lookup(namespace, packet) : own;
  if (found.route === undefined) refuse(found.errno, 'Nexthop has invalid gateway');
  const { type } = found.route;
  if (type !== 'unicast' && type !== 'local') refuse('EINVAL', 'Nexthop has invalid gateway');
  const link = existing(namespace, found.hop.link);
  if (!link.up) refuse('ENETDOWN');
  return link.index;
}

function checkGateway6(
  namespace: Namespace,
  hop: WantedHop,
  gateway: Addr,
  { table }: HopContext,
): LinkRecord {
  const link = hop.link === 0 ? undefined : existing(namespace, hop.link);
  if (gateway.isMulticast || gateway.isLoopback || gateway.isUnspecified)
    refuse('EINVAL', 'Invalid gateway address');
  if (gateway.isLinkLocal && link === undefined) refuse('EINVAL', 'Egress device not specified');
  if (isOwn(namespace, gateway, gateway.isLinkLocal ? link?.index : undefined)) {
    refuse('EINVAL', 'Gateway can not be a local address');
  }
  if (hop.onlink) {
    if (link === undefined) refuse('ENODEV', 'Nexthop device required for onlink');
    return upForIpv6(namespace, link);
  }
  const packet = { dst: gateway, oif: hop.link };
  const own = lookupTable(namespace, table, packet);
  const found = own?.route === undefined || own.hop.gateway !== undefined ? lookup(namespace, packet) : own;
  if (found.route === undefined || found.hop.gateway !== undefined) refuse('EHOSTUNREACH');
  return upForIpv6(namespace, link ?? existing(namespace, found.hop.link));
}

function upForIpv6(namespace: Namespace, link: LinkRecord): LinkRecord {
  if (isDisabled(namespace, link)) refuse('EACCES', 'IPv6 is disabled on nexthop device');
  if (!link.up) refuse('ENETDOWN', 'Nexthop device is not up');
  return link;
}

function existing(namespace: Namespace, index: number): LinkRecord {
  return namespace.links.get(index) ?? refuse('ENODEV');
}
