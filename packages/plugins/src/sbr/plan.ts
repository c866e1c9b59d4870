/**
 * Routing by source as values: for each address a rule and a table of its own, with the routes of its interface that
 * have to do with it; and what then has no place in the main table any more. Pure.
 */

import { ROUTE_PROTOCOL } from '@heddle/dataplane';
import { type Addr, Prefix } from '@heddle/netaddr';
import { type Route, type RouteSpec, RT_SCOPE, type RuleSpec } from '@heddle/netlink';
import { gatewaysIn, isOnLink, onLinkFirst } from '../interface/route-tables.ts';
import type { Gateways } from './config.ts';
import type { Source } from './sources.ts';

/** What to do for one address. */
export interface SourcePlan {
  readonly source: Source;
  readonly rule: RuleSpec;
  /** The routes of the address's table. Without a default route, it reaches its neighbours only. */
  readonly routes: readonly RouteSpec[];
}

/** What to do in the main table: first to remove, then to add. */
export interface MainPlan {
  readonly remove: readonly Route[];
  readonly add: readonly RouteSpec[];
}

/** The rule by which packets from an address are looked up in a table. */
export function sourceRule({ prefix }: Source, table: number): RuleSpec {
  return { from: Prefix.host(prefix.addr), table, protocol: ROUTE_PROTOCOL };
}

/**
 * The rules and tables.
 *
 * @param routes those of the interface, in the main table or its VRF's
 * @param options.tables a free table for each source
 * @param options.isInVrf whether the interface is in a VRF: its IPv4 addresses are only known to the VRF's table, and
 *   the kernel takes them for preferred sources in no other
 */
export function planSources(
  sources: readonly Source[],
  routes: readonly Route[],
  link: number,
  {
    gateways,
    tables,
    isInVrf = false,
  }: { readonly gateways: Gateways; readonly tables: readonly number[]; readonly isInVrf?: boolean },
): readonly SourcePlan[] {
  return sources.map((source, index) => {
    const table = tables[index] ?? 0;
    const gateway = gateways[source.prefix.family] ?? source.gateway;
    const copied = routes.filter(
      (route) =>
        belongs(route, source, sources) && (gateway === undefined || !isOtherDefault(route, gateway)),
    );
    const hasDefault = copied.some(({ dst }) => dst.bits === 0);
    const own: RouteSpec[] =
      gateway === undefined || hasDefault ? [] : [{ dst: defaultOf(source), gateway, link, table }];
    const all = [...copied.map((route) => ({ ...(isInVrf ? sourceless(route) : route), table })), ...own];
    return {
      source,
      rule: sourceRule(source, table),
      routes: onLinkFirst(all).map((spec) => ({ ...spec, protocol: ROUTE_PROTOCOL })),
    };
  });
}

/**
 * What has no place in the main table any more: everything, for it would give packets of other interfaces a way out
 * here. Link-local networks stay, because they are never looked up but for one link.
 *
 * @param hints whether networks stay too, as routes that say which address is to be used towards them
 */
export function planMain(
  sources: readonly Source[],
  routes: readonly Route[],
  link: number,
  hints: boolean,
): MainPlan {
  const movable = routes.filter(({ dst }) => !(dst.family === 6 && dst.addr.isLinkLocal));
  if (!hints) return { remove: movable, add: [] };
  const hinted = sources.filter(({ prefix }) => !prefix.isSingle);
  const isHinted = ({ dst }: Route) => hinted.some(({ prefix }) => prefix.masked().equals(dst));
  const remove = movable.filter((route) => !isOnLink(route) || isHinted(route));
  return {
    remove,
    add: hinted.map(({ prefix }) => ({
      dst: prefix.masked(),
      link,
      source: prefix.addr,
      scope: prefix.family === 4 ? RT_SCOPE.LINK : 0,
      metric: remove.find((route) => route.dst.equals(prefix.masked()))?.metric,
      protocol: ROUTE_PROTOCOL,
    })),
  };
}

/**
 * Whether a route has to do with an address: by a gateway or preferred source in its network, or because it has
 * neither; also when they are in nobody's network, as with gateways outside of all.
 */
function belongs(route: Route, { prefix }: Source, sources: readonly Source[]): boolean {
  if (route.family !== prefix.family) return false;
  const anchors = [route.source, ...gatewaysIn(route)].filter((anchor) => anchor !== undefined);
  const isIn = (network: Prefix) => anchors.some((anchor) => network.contains(anchor));
  return anchors.length === 0 || isIn(prefix) || !sources.some((source) => isIn(source.prefix));
}

function sourceless({ source, ...route }: Route): RouteSpec {
  return route.family === 6 ? { source, ...route } : route;
}

/** A default route by another way than is wanted. */
function isOtherDefault(route: Route, gateway: Addr): boolean {
  return route.dst.bits === 0 && !gatewaysIn(route).some((each) => each.equals(gateway));
}

function defaultOf({ prefix }: Source): Prefix {
  return prefix.family === 4 ? Prefix.DEFAULT4 : Prefix.DEFAULT6;
}
