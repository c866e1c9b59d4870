/** RTM_NEWROUTE, RTM_DELROUTE, RTM_GETROUTE */
import { Prefix } from '@heddle/netaddr';
import { decode } from '@heddle/wire';
import { type Family, familyOf } from '../../core/family.ts';
import { RTM } from '../../core/rtm.ts';
import { RT_SCOPE, RT_TABLE, RTM_F, routeMessage } from '../../route/codec.ts';
import type { Handlers } from '../core/handler.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse, refuseUnknown } from '../core/refusal.ts';
import { LOOPBACK_INDEX } from '../link/record.ts';
import { addRoute4, deleteRoute4 } from './ipv4.ts';
import { addRoute6, deleteRoute6 } from './ipv6.ts';
import { isOwn, lookup } from './lookup.ts';
import type { RouteRecord } from './record.ts';
import { newRoute, requestedRoute } from './requested.ts';
import { describeRoute } from './store.ts';

/** What the routing tables do. */
export const routeHandlers: readonly (readonly [number, Handlers])[] = [
  [
    RTM.NEWROUTE,
    {
      change(namespace, { flags, body }) {
        const route = newRoute(body);
        if (route.family === 4) addRoute4(namespace, route, flags);
        else addRoute6(namespace, route, flags);
        return undefined;
      },
    },
  ],
  [
    RTM.DELROUTE,
    {
      change(namespace, { body }) {
        const route = requestedRoute(body);
        if (route.family === 4) deleteRoute4(namespace, route);
        else deleteRoute6(namespace, route);
        return undefined;
      },
    },
  ],
  [
    RTM.GETROUTE,
    {
      dump: (namespace, { body }) =>
        listRoutes(namespace, body).map((route) => describeRoute(namespace, route)),
      get: (namespace, { body }) => [lookUp(namespace, body)],
    },
  ],
];

/** The order in which the kernel lists: by table, then as its tries are walked. */
export function inOrder(routes: readonly RouteRecord[]): RouteRecord[] {
  return routes.toSorted(
    (a, b) =>
      a.family - b.family ||
      (a.table & 0xff) - (b.table & 0xff) ||
      (a.family === 4 ? compare4(a.dst, b.dst) : compare6(a.dst, b.dst)) ||
      a.metric - b.metric,
  );
}

function compare4(a: Prefix, b: Prefix): number {
  return Prefix.compare(Prefix.host(a.addr), Prefix.host(b.addr)) || b.bits - a.bits;
}

/** What lies in a prefix comes before the prefix itself. */
function compare6(a: Prefix, b: Prefix): number {
  const bits = Math.min(a.bits, b.bits);
  const order = Prefix.compare(Prefix.of(a.addr, bits).masked(), Prefix.of(b.addr, bits).masked());
  return order || b.bits - a.bits;
}

function listRoutes(namespace: Namespace, body: Uint8Array): RouteRecord[] {
  const { attributes: a, ...message } = decode(routeMessage, body);
  refuseUnknown('RTA', a);
  const family = familyOf(message.family);
  const table = a.table ?? message.table;
  if (table !== RT_TABLE.UNSPEC && family !== undefined && !namespace.tables.has(`${family} ${table}`)) {
    refuse('ENOENT', `ipv${family}: ${family === 4 ? 'FIB' : 'MR'} table does not exist`);
  }
  return inOrder(namespace.routes).filter(
    (route) =>
      (family === undefined || route.family === family) &&
      (table === RT_TABLE.UNSPEC || route.table === table) &&
      (message.protocol === 0 || route.protocol === message.protocol) &&
      (a.oif === undefined || route.hops.some(({ link }) => link === a.oif)),
  );
}

function lookUp(namespace: Namespace, body: Uint8Array) {
  const message = decode(routeMessage, body);
  const { dst, src, mark, iif, oif } = message.attributes;
  refuseUnknown('RTA', message);
  const family = familyOf(message.family) ?? refuse('EOPNOTSUPP');
  if (dst === undefined) refuse('EINVAL');
  if (src !== undefined && iif === undefined && family === 4 && !isOwn(namespace, src)) refuse('ENETUNREACH');
  const found = lookup(namespace, { dst, src, mark, iif, oif });
  if (found.route === undefined) refuse(found.errno);
  const { route, hop } = found;
  const isLocal = route.type === 'local';
  const source =
    src ?? route.source ?? (isLocal ? dst : sourceFor(namespace, family, hop.link, hop.gateway ?? dst));
  const showsTable = family === 6 || (message.flags & RTM_F.LOOKUP_TABLE) !== 0;
  return describeRoute(namespace, {
    ...route,
    dst: Prefix.host(dst),
    scope: RT_SCOPE.UNIVERSE,
    table: showsTable ? route.table : RT_TABLE.MAIN,
    hops: [isLocal && family === 4 ? { ...hop, link: LOOPBACK_INDEX } : hop],
    ...(family === 4 && { protocol: 0, metric: 0 }),
    ...(source && { source }),
  });
}

/** The address that a packet by this way would come from: one of the network of its next stop, else the first. */
function sourceFor(namespace: Namespace, family: Family, link: number, next: RouteRecord['dst']['addr']) {
  const usable = namespace.addresses.filter(
    (each) => each.family === family && each.link === link && isOwn(namespace, each.local),
  );
  const near = usable.find((each) => Prefix.of(each.address, each.bits).contains(next));
  return (near ?? usable.find(({ scope }) => scope === RT_SCOPE.UNIVERSE) ?? usable[0])?.local;
}
