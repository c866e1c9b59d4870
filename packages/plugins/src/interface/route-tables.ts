/** Moving the routes of an interface between routing tables: which they are, in what order, and where there is room. Pure. */
import type { Addr } from '@heddle/netaddr';
import type { Route, RouteSpec } from '@heddle/netlink';

/** RT_TABLE_MAIN — linux/rtnetlink.h */
export const MAIN_TABLE = 254;

/** Whether a route leaves by the link of that index, and by no other. */
function leavesBy({ link, nexthops }: Route, index: number): boolean {
  return nexthops === undefined ? link === index : nexthops.every((hop) => hop.link === index);
}

/**
 * What of a route leaves by the link of that index. The kernel shows IPv6 routes of several interfaces to one destination
 * as one route, but each interface has its own; of IPv4, a route of several ways is one, and nobody's.
 */
export function ownRoute(route: Route, index: number): readonly Route[] {
  const { nexthops, ...rest } = route;
  if (nexthops === undefined || route.family === 4) return leavesBy(route, index) ? [route] : [];
  return nexthops
    .filter((hop) => hop.link === index)
    .map(({ gateway, via, link, onlink = false }) => ({
      ...{ ...rest, link, onlink },
      ...(gateway && { gateway }),
      ...(via && { via }),
    }));
}

/** The gateways of a route, of each of its ways. */
export function gatewaysIn({ gateway, via, nexthops = [] }: Route): readonly Addr[] {
  return [{ gateway, via }, ...nexthops].flatMap((hop) => hop.gateway ?? hop.via ?? []);
}

/** Whether a route leads to what is on its link itself. */
export function isOnLink({ gateway, via, nexthops }: RouteSpec): boolean {
  return gateway === undefined && via === undefined && nexthops === undefined;
}

/** Routes in an order in which they can be made: a gateway is only accepted when it can be reached. */
export function onLinkFirst<R extends RouteSpec>(routes: readonly R[]): readonly R[] {
  return [...routes.filter(isOnLink), ...routes.filter((route) => !isOnLink(route))];
}

/**
 * The first tables from `first` that nobody has.
 *
 * @param used the tables that rules, routes or devices have to do with
 * @example freeTables(100, 2, new Set([101])) // [100, 102]
 */
export function freeTables(first: number, count: number, used: ReadonlySet<number>): readonly number[] {
  const free: number[] = [];
  for (let table = first; free.length < count; table++) {
    if (!used.has(table) && !RESERVED.has(table)) free.push(table);
  }
  return free;
}

/** RT_TABLE_UNSPEC, RT_TABLE_DEFAULT, RT_TABLE_MAIN, RT_TABLE_LOCAL — linux/rtnetlink.h */
const RESERVED: ReadonlySet<number> = new Set([0, 253, 254, 255]);
