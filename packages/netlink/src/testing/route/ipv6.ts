/**
 * Making and deleting IPv6 routes — fib6_add_rt2node in net/ipv6/ip6_fib.c, ip6_route_del in net/ipv6/route.c.
 *
 * Routes by gateways to one destination with one metric are one route with several ways.
 */
import { NLM_F } from '../../core/header.ts';
import { RTPROT } from '../../route/codec.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import { LOOPBACK_INDEX } from '../link/record.ts';
import { checkHop6, type WantedHop } from './gateways.ts';
import { isOwn } from './lookup.ts';
import type { HopRecord, RouteRecord } from './record.ts';
import type { WantedRoute } from './requested.ts';
import { insertRoute, removeRoutes, replaceRoute, sameHop } from './store.ts';

/** Makes a route. Several ways come in one after the other, as if each had been asked for. */
export function addRoute6(namespace: Namespace, wanted: WantedRoute, flags: number): void {
  const before = namespace.routes;
  try {
    const hops = wanted.hops.length === 0 ? [undefined] : wanted.hops;
    const checked = hops.map((hop) => withHop(namespace, wanted, hop));
    checked.forEach((route, at) => {
      addOne(namespace, route, at === 0 ? flags : (flags & ~(NLM_F.EXCL | NLM_F.REPLACE)) | NLM_F.CREATE);
    });
  } catch (error) {
    namespace.routes = before;
    throw error;
  }
}

/** Deletes the first route that has all that is asked for; of one with several ways, only the one by a gateway. */
export function deleteRoute6(namespace: Namespace, wanted: WantedRoute): void {
  if (wanted.hops.length > 1) {
    for (const hop of wanted.hops) deleteRoute6(namespace, { ...wanted, hops: [hop] });
    return;
  }
  const [hop] = wanted.hops;
  const found = namespace.routes.find(
    (route) =>
      route.family === 6 &&
      route.table === wanted.table &&
      route.dst.equals(wanted.dst) &&
      String(route.src) === String(wanted.src) &&
      (wanted.metric === 0 || route.metric === wanted.metric) &&
      (wanted.protocol === RTPROT.UNSPEC || route.protocol === wanted.protocol) &&
      (hop === undefined || route.hops.some((each) => isWanted(each, hop))),
  );
  if (found === undefined) refuse(meansNull(namespace, wanted) ? 'ENOENT' : 'ESRCH');
  const left = hop?.gateway === undefined ? [] : found.hops.filter((each) => !isWanted(each, hop));
  if (left.length === 0) removeRoutes(namespace, (route) => route === found);
  else replaceRoute(namespace, found, { ...found, hops: left });
}

/** Where a table has no default route, the kernel finds its own null entry, and says so. */
function meansNull({ routes }: Namespace, { dst, table, hops, metric, protocol }: WantedRoute): boolean {
  const isOpen =
    hops.length === 0 && metric === 0 && (protocol === RTPROT.UNSPEC || protocol === RTPROT.KERNEL);
  return isOpen && dst.bits === 0 && !routes.some((each) => each.table === table && each.dst.equals(dst));
}

function addOne(namespace: Namespace, route: RouteRecord, flags: number): void {
  const alike = namespace.routes.filter((other) => isAlike(other, route));
  if (alike.length > 0 && (flags & NLM_F.EXCL) !== 0) refuse('EEXIST');
  const twin = alike.find((other) => joins(other) === joins(route));
  if ((flags & NLM_F.REPLACE) !== 0) {
    const old = twin ?? alike[0];
    if (old !== undefined) replaceRoute(namespace, old, route);
    else if ((flags & NLM_F.CREATE) === 0) refuse('ENOENT');
    else insertRoute(namespace, route);
    return;
  }
  if ((flags & NLM_F.CREATE) === 0) refuse('ENOENT');
  const [hop] = route.hops;
  if (alike.some(({ hops }) => hops.some((each) => hop !== undefined && sameHop(each, hop))))
    refuse('EEXIST');
  if (twin !== undefined && joins(route)) {
    replaceRoute(namespace, twin, { ...twin, hops: [...twin.hops, ...route.hops] });
  } else {
    insertRoute(namespace, route);
  }
}

function withHop(namespace: Namespace, wanted: WantedRoute, hop: WantedHop | undefined): RouteRecord {
  const { type, source } = wanted;
  if (REJECTS.has(type)) return { ...wanted, hops: [{ link: LOOPBACK_INDEX, weight: 1, onlink: false }] };
  if (hop === undefined) refuse('ENODEV');
  const hops = [checkHop6(namespace, hop, wanted)];
  if (source !== undefined && !isOwn(namespace, source)) refuse('EINVAL', 'Invalid source address');
  return { ...wanted, hops };
}

const REJECTS: ReadonlySet<WantedRoute['type']> = new Set(['blackhole', 'unreachable', 'prohibit', 'throw']);

/** rt6_qualify_for_ecmp */
function joins({ hops, type }: RouteRecord): boolean {
  return type === 'unicast' && hops.some(({ gateway }) => gateway !== undefined);
}

function isAlike(a: RouteRecord, b: RouteRecord): boolean {
  return (
    a.family === 6 &&
    a.table === b.table &&
    a.metric === b.metric &&
    a.dst.equals(b.dst) &&
    String(a.src) === String(b.src)
  );
}

function isWanted(hop: HopRecord, { link, gateway }: WantedHop): boolean {
  return (
    (link === 0 || hop.link === link) && (gateway === undefined || hop.gateway?.equals(gateway) === true)
  );
}
