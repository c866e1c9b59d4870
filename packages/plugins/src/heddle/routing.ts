/**
 * How a pod and its node reach each other, as values. The pod has its addresses alone, and everything goes by a
 * gateway that is the same for all pods of all nodes: 169.254.1.1, which nobody has (a permanent neighbour leads to the
 * host's end), and fe80::1, which every host's end has. Pure.
 */
import type { Route } from '@heddle/cni';
import { ROUTE_PROTOCOL } from '@heddle/dataplane';
import { type Mac, Prefix } from '@heddle/netaddr';
import { type NeighbourSpec, type RouteSpec, RT_SCOPE } from '@heddle/netlink';
import { GATEWAYS } from '../cluster/verbs.ts';

/** The gateway on the host's end; the prefix gives the host a way to the pod's own link-local address. */
export const HOST_ADDRESS = Prefix.parse('fe80::1/64');

/** The families of addresses. */
export function familiesOf(addresses: readonly Prefix[]): readonly (4 | 6)[] {
  return ([4, 6] as const).filter((each) => addresses.some(({ family }) => family === each));
}

/** The pod's routes, as the result has them. */
export function podRoutes(families: readonly (4 | 6)[]): readonly Route[] {
  return families.map((family) => ({
    dst: family === 4 ? '0.0.0.0/0' : '::/0',
    gw: `${GATEWAYS[family]}`,
  }));
}

/** The pod's routes to its gateways: IPv6 has one on every link. */
export function gatewayRoutes(link: number, families: readonly (4 | 6)[]): readonly RouteSpec[] {
  return families.includes(4) ? [{ dst: Prefix.host(GATEWAYS[4]), link, scope: RT_SCOPE.LINK }] : [];
}

/** The pod's neighbours: the gateways are the host's end, and nothing need be asked. */
export function gatewayNeighbours(
  link: number,
  families: readonly (4 | 6)[],
  mac: Mac,
): readonly NeighbourSpec[] {
  return families.map((family) => ({ link, address: GATEWAYS[family], mac }));
}

/** The host's routes to the pod. */
export function hostRoutes(link: number, addresses: readonly Prefix[]): readonly RouteSpec[] {
  return addresses.map(({ addr }) => ({
    dst: Prefix.host(addr),
    link,
    ...(addr.family === 4 && { scope: RT_SCOPE.LINK }),
    protocol: ROUTE_PROTOCOL,
  }));
}

/** Where the pod's interface stands in the result. */
export const POD_AT = 1;
