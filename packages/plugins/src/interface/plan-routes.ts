/**
 * Which routes a result comes to, as values: every gateway is reachable before it is used, and what the
 * result leaves unsaid is filled in. Pure.
 */
import type { Route as ResultRoute } from '@heddle/cni';
import { Addr, Prefix } from '@heddle/netaddr';
import { type RouteSpec, RT_SCOPE } from '@heddle/netlink';

/** An address of the interface with the gateway that came with it. */
export interface PlannedAddress {
  readonly prefix: Prefix;
  readonly gateway?: Addr | undefined;
}

/**
 * The routes to make on `link`, in this order.
 *
 * - A route without a gateway takes the first gateway of its family, unless its scope says that there is none.
 * - A gateway outside the interface's networks is first made reachable by a route of its own.
 * - A route that is there twice is made once.
 *
 * @param networkRoutes the routes to the interface's networks, where the kernel makes none
 * @example
 * planRoutes(3, [{ prefix: Prefix.parse('2001:db8::5/64'), gateway: Addr.parse('2001:db8:1::1') }], [{ dst: '::/0' }])
 * // 2001:db8:1::1/128 on the link, then ::/0 via 2001:db8:1::1
 */
export function planRoutes(
  link: number,
  addresses: readonly PlannedAddress[],
  routes: readonly ResultRoute[],
  networkRoutes?: readonly RouteSpec[],
): readonly RouteSpec[] {
  const planned = new Map<string, RouteSpec>();
  const plan = (spec: RouteSpec): void => {
    const key = JSON.stringify(spec);
    if (!planned.has(key)) planned.set(key, spec);
  };
  for (const spec of networkRoutes ?? []) plan(spec);
  const onLink = networkRoutes === undefined ? addresses.map(({ prefix }) => prefix) : [];
  for (const route of routes) {
    const spec = routeSpec(link, addresses, route);
    const gateway = spec.gateway ?? spec.via;
    if (gateway !== undefined && !isReachable(gateway, onLink, planned.values())) {
      plan({ dst: Prefix.host(gateway), link, scope: RT_SCOPE.LINK });
    }
    plan(spec);
  }
  return [...planned.values()];
}

/** The gateway that a route of a result names. Its author may say 0.0.0.0 or :: where there is to be none. */
export function namedGateway(gw: string | undefined): Addr | undefined {
  const gateway = gw === undefined || gw === '' ? undefined : Addr.parse(gw);
  return gateway?.isUnspecified ? undefined : gateway;
}

/** The first gateway of a family, which routes without one take. */
function firstGateway(addresses: readonly PlannedAddress[], family: 4 | 6): Addr | undefined {
  return addresses.find(({ gateway }) => gateway?.family === family)?.gateway;
}

function routeSpec(link: number, addresses: readonly PlannedAddress[], route: ResultRoute): RouteSpec {
  const dst = Prefix.parse(route.dst).masked();
  const gateway = gatewayOf(route, firstGateway(addresses, dst.family));
  const sameFamily = gateway?.family === dst.family;
  const metrics = {
    ...(isSet(route.mtu) && { mtu: route.mtu }),
    ...(isSet(route.advmss) && { advmss: route.advmss }),
  };
  return {
    dst,
    link,
    ...(gateway !== undefined && (sameFamily ? { gateway } : { via: gateway })),
    ...(isSet(route.priority) && { metric: route.priority }),
    ...(route.table !== undefined && { table: route.table }),
    ...(route.scope !== undefined && { scope: route.scope }),
    ...(Object.keys(metrics).length > 0 && { metrics }),
  };
}

function gatewayOf({ gw, scope = 0 }: ResultRoute, implied: Addr | undefined): Addr | undefined {
  if (gw !== undefined && gw !== '') return namedGateway(gw);
  // What is on the link or on the host itself has no gateway; the kernel would refuse one.
  return scope >= RT_SCOPE.LINK ? undefined : implied;
}

function isReachable(gateway: Addr, onLink: readonly Prefix[], routes: Iterable<RouteSpec>): boolean {
  if (gateway.family === 6 && gateway.isLinkLocal) return true;
  if (onLink.some((prefix) => prefix.contains(gateway))) return true;
  for (const { dst, gateway: next, via, table } of routes) {
    if (next === undefined && via === undefined && table === undefined && dst.contains(gateway)) return true;
  }
  return false;
}

function isSet(value: number | undefined): value is number {
  return value !== undefined && value > 0;
}
