/** The routes of a namespace: adding and removing them, and telling of it. */
import { encode, type Input } from '@heddle/wire';
import { afOf, type Family } from '../../core/family.ts';
import type { Reply } from '../../core/message.ts';
import { RTM } from '../../core/rtm.ts';
import { RT_SCOPE, RT_TABLE, RTNH_F, RTPROT, routeMessage } from '../../route/codec.ts';
import type { Namespace } from '../core/namespace.ts';
import { kindOfLink } from '../link/kinds.ts';
import type { LinkRecord } from '../link/record.ts';
import type { HopRecord, RouteRecord } from './record.ts';

/** A route as the kernel itself makes it for an address. */
export function kernelRoute(
  link: LinkRecord,
  route: Pick<RouteRecord, 'dst' | 'table' | 'type'> & Partial<RouteRecord>,
): RouteRecord {
  return {
    family: route.dst.family,
    tos: 0,
    protocol: RTPROT.KERNEL,
    scope: RT_SCOPE.UNIVERSE,
    metric: 0,
    hops: [{ link: link.index, weight: 1, onlink: false }],
    ...route,
  };
}

/** The table that a link's routes go to: the main one, or that of its VRF. */
export function tableOf(namespace: Namespace, link: LinkRecord, otherwise: number): number {
  const vrf =
    link.kind === 'vrf' ? link : link.master === undefined ? undefined : namespace.links.get(link.master);
  return (vrf?.kind === 'vrf' ? vrf.data?.vrf?.table : undefined) ?? otherwise;
}

/** Puts a route before the one at a place, by default at the end, and tells of it. */
export function insertRoute(namespace: Namespace, route: RouteRecord, at = namespace.routes.length): void {
  namespace.routes = namespace.routes.toSpliced(at, 0, route);
  namespace.tables.add(`${route.family} ${route.table}`);
  publish(namespace, route, RTM.NEWROUTE);
}

/** Adds a route of the kernel's own, unless it is there. */
export function ensureRoute(namespace: Namespace, route: RouteRecord): void {
  if (!namespace.routes.some((other) => sameRoute(other, route))) insertRoute(namespace, route);
}

/** Removes the routes that are chosen. IPv4 says nothing of those that go with their link or address. */
export function removeRoutes(
  namespace: Namespace,
  isChosen: (route: RouteRecord) => boolean,
  { silent = false }: { readonly silent?: boolean } = {},
): void {
  const gone = namespace.routes.filter(isChosen);
  if (gone.length === 0) return;
  namespace.routes = namespace.routes.filter((route) => !gone.includes(route));
  if (!silent) for (const route of gone) publish(namespace, route, RTM.DELROUTE);
}

/** Puts one route in another's place. */
export function replaceRoute(namespace: Namespace, old: RouteRecord, route: RouteRecord): void {
  namespace.routes = namespace.routes.map((each) => (each === old ? route : each));
  publish(namespace, route, RTM.NEWROUTE);
}

/** Takes the ways over a link out of all routes, and those that have no other away. */
export function removeHops(namespace: Namespace, family: Family, link: number, keepHost: boolean): void {
  const leads = (route: RouteRecord) =>
    route.family === family && !(keepHost && route.scope === RT_SCOPE.HOST);
  const silent = family === 4;
  removeRoutes(namespace, (route) => leads(route) && isOnly(route, link), { silent });
  namespace.routes = namespace.routes.map((route) =>
    leads(route) && route.hops.some((hop) => hop.link === link)
      ? { ...route, hops: route.hops.filter((hop) => hop.link !== link) }
      : route,
  );
}

/** Whether all ways of a route are over this link. */
function isOnly({ hops }: RouteRecord, link: number): boolean {
  return hops.length > 0 && hops.every((hop) => hop.link === link);
}

/** Same in all that tells one route from another. */
export function sameRoute(a: RouteRecord, b: RouteRecord): boolean {
  return (
    a.family === b.family &&
    a.table === b.table &&
    a.dst.equals(b.dst) &&
    a.tos === b.tos &&
    a.metric === b.metric &&
    a.type === b.type &&
    a.scope === b.scope &&
    a.protocol === b.protocol &&
    String(a.source) === String(b.source) &&
    JSON.stringify(a.metrics ?? {}) === JSON.stringify(b.metrics ?? {}) &&
    sameHops(a.hops, b.hops)
  );
}

/** The same ways in the same order. */
function sameHops(a: readonly HopRecord[], b: readonly HopRecord[]): boolean {
  return a.length === b.length && a.every((hop, index) => sameHop(hop, b[index] as HopRecord));
}

/** The same way. */
export function sameHop(a: HopRecord, b: HopRecord): boolean {
  return a.link === b.link && String(a.gateway ?? a.via) === String(b.gateway ?? b.via);
}

/** The message that describes a route. */
export function describeRoute(namespace: Namespace, route: RouteRecord, type: number = RTM.NEWROUTE): Reply {
  const { hops, metrics, source, src } = route;
  const [only, ...others] = hops;
  const single = others.length === 0 ? only : undefined;
  const request: Input<typeof routeMessage> = {
    family: afOf(route.family),
    dstLength: route.dst.bits,
    srcLength: src?.bits,
    tos: route.tos,
    table: route.table < 256 ? route.table : RT_TABLE.UNSPEC,
    protocol: route.protocol,
    scope: route.scope,
    type: route.type,
    flags: single === undefined ? 0 : hopFlags(namespace, single),
    attributes: {
      table: route.table,
      ...(route.dst.bits > 0 && { dst: route.dst.addr }),
      ...(src && { src: src.addr }),
      ...((route.family === 6 || route.metric > 0) && { priority: route.metric }),
      ...(source && { prefsrc: source }),
      ...(metrics && { metrics }),
      ...(single && { oif: single.link, gateway: single.gateway, via: single.via }),
      ...(hops.length > 1 && { multipath: hops.map((hop) => nexthop(namespace, hop)) }),
      ...(route.family === 6 && { preference: route.preference ?? 0 }),
    },
  };
  return { type, flags: 0, body: encode(routeMessage, request) };
}

function nexthop(namespace: Namespace, hop: HopRecord) {
  const { gateway, via } = hop;
  return {
    index: hop.link,
    hops: hop.weight - 1,
    flags: hopFlags(namespace, hop),
    attributes: { ...(gateway && { gateway }), ...(via && { via }) },
  };
}

const RTNH_F_LINKDOWN = 16;

function hopFlags(namespace: Namespace, { link, onlink }: HopRecord): number {
  const found = namespace.links.get(link);
  const down = found?.up && !found.carrier && kindOfLink(found).carrier !== 'always';
  return (onlink ? RTNH_F.ONLINK : 0) | (down ? RTNH_F_LINKDOWN : 0);
}

function publish(namespace: Namespace, route: RouteRecord, type: number): void {
  namespace.notifier.publish(route.family === 4 ? 'route4' : 'route6', describeRoute(namespace, route, type));
}
