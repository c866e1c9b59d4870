/** Making and deleting IPv4 routes — fib_table_insert, fib_table_delete in net/ipv4/fib_trie.c */
import { NLM_F } from '../../core/header.ts';
import { RT_SCOPE, RT_TABLE, RTPROT } from '../../route/codec.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import { checkHop4 } from './gateways.ts';
import { addressType } from './lookup.ts';
import type { HopRecord, RouteRecord } from './record.ts';
import type { WantedRoute } from './requested.ts';
import { insertRoute, removeRoutes, replaceRoute, sameRoute } from './store.ts';

/** Makes a route. The flags say what to do about others to the same destination with the same metric. */
export function addRoute4(namespace: Namespace, wanted: WantedRoute, flags: number): void {
  const route = checked(namespace, wanted);
  const alike = namespace.routes.filter((other) => isAlike(other, route));
  const same = alike.find((other) => sameRoute(other, route));
  const [first] = alike;
  if (first !== undefined) {
    if ((flags & NLM_F.EXCL) !== 0) refuse('EEXIST');
    if ((flags & NLM_F.REPLACE) !== 0) {
      if (same !== undefined && same !== first) refuse('EEXIST');
      replaceRoute(namespace, first, route);
      return;
    }
    if (same !== undefined) refuse('EEXIST');
  }
  if ((flags & NLM_F.CREATE) === 0) refuse('ENOENT');
  const appends = first === undefined || (flags & NLM_F.APPEND) !== 0;
  insertRoute(namespace, route, appends ? undefined : namespace.routes.indexOf(first));
}

/** Deletes the first route that has all that is asked for. */
export function deleteRoute4(namespace: Namespace, wanted: WantedRoute): void {
  const found = namespace.routes.find(
    (route) =>
      route.family === 4 &&
      route.table === wanted.table &&
      route.dst.equals(wanted.dst) &&
      route.tos === wanted.tos &&
      (wanted.type === 'unspec' || route.type === wanted.type) &&
      (wanted.scope === RT_SCOPE.NOWHERE || route.scope === wanted.scope) &&
      (wanted.source === undefined || route.source?.equals(wanted.source) === true) &&
      (wanted.protocol === RTPROT.UNSPEC || route.protocol === wanted.protocol) &&
      (wanted.metric === 0 || route.metric === wanted.metric) &&
      matchesHops(route.hops, wanted),
  );
  if (found === undefined) refuse('ESRCH');
  removeRoutes(namespace, (route) => route === found);
}

function checked(namespace: Namespace, wanted: WantedRoute): RouteRecord {
  const { type, scope, hops, source } = wanted;
  const needed = SCOPES[type];
  if (needed === undefined) refuse('EINVAL', 'Invalid route type');
  if (needed > scope || scope > RT_SCOPE.HOST) refuse('EINVAL', 'Invalid scope');
  if (DROPS.has(type)) {
    if (hops.length > 0)
      refuse('EINVAL', 'Gateway, device and multipath can not be specified for this route type');
    return { ...wanted, hops: [] };
  }
  if (hops.length === 0) refuse('ENODEV');
  if (scope === RT_SCOPE.HOST && hops.length > 1) {
    refuse('EINVAL', 'Route with host scope can not have multiple nexthops');
  }
  const route = { ...wanted, hops: hops.map((hop) => checkHop4(namespace, hop, wanted)) };
  const isItself = type === 'local' && source?.equals(wanted.dst.addr) === true;
  if (source !== undefined && !isItself && addressType(namespace, source, RT_TABLE.LOCAL) !== 'local') {
    refuse('EINVAL', 'Invalid prefsrc address');
  }
  return route;
}

/** fib_props: the widest scope that a type may have. */
const SCOPES: Readonly<Record<string, number>> = {
  unicast: RT_SCOPE.UNIVERSE,
  local: RT_SCOPE.HOST,
  broadcast: RT_SCOPE.LINK,
  anycast: RT_SCOPE.LINK,
  multicast: RT_SCOPE.UNIVERSE,
  blackhole: RT_SCOPE.UNIVERSE,
  unreachable: RT_SCOPE.UNIVERSE,
  prohibit: RT_SCOPE.UNIVERSE,
  throw: RT_SCOPE.UNIVERSE,
};

const DROPS: ReadonlySet<WantedRoute['type']> = new Set(['blackhole', 'unreachable', 'prohibit', 'throw']);

function isAlike(a: RouteRecord, b: RouteRecord): boolean {
  return (
    a.family === 4 && a.table === b.table && a.tos === b.tos && a.metric === b.metric && a.dst.equals(b.dst)
  );
}

/** fib_nh_match: what is left out may be anything. */
function matchesHops(hops: readonly HopRecord[], { hops: wanted }: WantedRoute): boolean {
  const [only, ...others] = wanted;
  if (only === undefined) return true;
  if (others.length === 0) {
    const [hop] = hops;
    return hop !== undefined && hops.length === 1 && matchesHop(hop, only);
  }
  return hops.length === wanted.length && hops.every((hop, at) => matchesHop(hop, wanted[at] as HopRecord));
}

function matchesHop(hop: HopRecord, { link, gateway, via }: HopRecord): boolean {
  return (
    (link === 0 || hop.link === link) &&
    (gateway === undefined || hop.gateway?.equals(gateway) === true) &&
    (via === undefined || hop.via?.equals(via) === true)
  );
}
