/** What a lease comes to as a result. */
import type { Dns, Result, Route } from '@heddle/cni';
import type { Lease, LeasedRoute } from '@heddle/dhcp';
import { Prefix } from '@heddle/netaddr';
import { RT_SCOPE } from '@heddle/netlink';
import { addressResult } from '../addressing/address-result.ts';

/**
 * The result: one address; the server's routes, or else one to everywhere through its first router; and what it
 * says of name resolution.
 *
 * @param priority the metric of every route, unless 0
 */
export function leaseResult(lease: Lease, priority: number): Result {
  const [gateway] = lease.routers;
  const metric = priority === 0 ? {} : { priority };
  return addressResult({
    ips: [{ address: `${lease.prefix}`, ...(gateway !== undefined && { gateway: `${gateway}` }) }],
    routes: routesOf(lease).map((route) => ({ ...route, ...metric })),
    dns: dnsOf(lease),
  });
}

/** Where there are classless routes, the others do not count (RFC 3442). */
function routesOf({ classlessRoutes, staticRoutes, routers }: Lease): readonly Route[] {
  if (classlessRoutes !== undefined) return classlessRoutes.map(routeOf);
  const [gateway] = routers;
  const toEverywhere = gateway === undefined ? [] : [{ destination: Prefix.DEFAULT4, router: gateway }];
  return [...staticRoutes, ...toEverywhere].map(routeOf);
}

/** A router of 0.0.0.0 says that the destination is on the link; it stays, else another gateway would be filled in. */
function routeOf({ destination, router }: LeasedRoute): Route {
  return {
    dst: `${destination}`,
    gw: `${router}`,
    ...(router.isUnspecified && { scope: RT_SCOPE.LINK }),
  };
}

function dnsOf({ nameServers, domain, search }: Lease): Dns | undefined {
  if (nameServers.length === 0 && domain === undefined && search.length === 0) return undefined;
  return {
    ...(nameServers.length > 0 && { nameservers: nameServers.map(String) }),
    ...(domain !== undefined && { domain }),
    ...(search.length > 0 && { search }),
  };
}
