/**
 * How the two ends of a pair reach each other, as values: all that the container sends goes by the host, also
 * what is for its own network, for nobody else of that is on the link. Pure.
 */
import { type Addr, Prefix } from '@heddle/netaddr';
import { type RouteSpec, RT_SCOPE } from '@heddle/netlink';
import type { PlannedAddress } from '../interface/plan-routes.ts';

/** An address of the container with its gateway, which the host is. */
export interface RoutedAddress extends PlannedAddress {
  readonly gateway: Addr;
}

/**
 * The container's routes to its gateways and, by them, to its networks. Of several addresses in one network the
 * first has the routes.
 *
 * @example
 * containerRoutes(2, [{ prefix: Prefix.parse('10.1.2.2/24'), gateway: Addr.parse('10.1.2.1') }])
 * // 10.1.2.1/32 dev 2 scope link src 10.1.2.2, then 10.1.2.0/24 via 10.1.2.1 src 10.1.2.2
 */
export function containerRoutes(link: number, addresses: readonly RoutedAddress[]): readonly RouteSpec[] {
  const routes = addresses.flatMap(({ prefix, gateway }) => [
    { dst: Prefix.host(gateway), link, scope: RT_SCOPE.LINK, source: prefix.addr },
    // A network of one address is the container itself.
    ...(prefix.isSingle ? [] : [{ dst: prefix.masked(), link, gateway, source: prefix.addr }]),
  ]);
  return firstOfEach(routes, ({ dst }) => `${dst}`);
}

/** The addresses of the host's end: every gateway, each once and alone in its network. */
export function hostAddresses(addresses: readonly RoutedAddress[]): readonly Prefix[] {
  return firstOfEach(
    addresses.map(({ gateway }) => Prefix.host(gateway)),
    (prefix) => `${prefix}`,
  );
}

/** The host's routes to the container's addresses. */
export function hostRoutes(
  link: number,
  addresses: readonly PlannedAddress[],
): readonly (RouteSpec & { readonly link: number })[] {
  const routes = addresses.map(({ prefix }) => ({
    dst: Prefix.host(prefix.addr),
    link,
    scope: RT_SCOPE.HOST,
  }));
  return firstOfEach(routes, ({ dst }) => `${dst}`);
}

function firstOfEach<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  const keys = items.map(keyOf);
  return items.filter((_, at) => keys.indexOf(keys[at] ?? '') === at);
}
