/** CHECK: the interface is in the VRF, and so are its routes. */
import type { Result } from '@heddle/cni';
import type { CheckCall } from '@heddle/cni/plugin';
import { Addr, Prefix } from '@heddle/netaddr';
import type { Route } from '@heddle/netlink';
import { type Findings, reportDrift, requirePrevResult } from '../interface/findings.ts';
import { gatewaysIn, MAIN_TABLE } from '../interface/route-tables.ts';
import type { VrfConfig } from './config.ts';
import { type Vrf, vrfOf } from './device.ts';

type Call = CheckCall<VrfConfig>;

/** See the file's comment. */
export async function check({ config, container, ifName, prevResult }: Call): Promise<void> {
  const result = requirePrevResult(prevResult);
  const { vrfname, table } = config;
  const device = await container.links.find(vrfname);
  const vrf = device && vrfOf(device);
  if (device === undefined || vrf === undefined) {
    return reportDrift([device === undefined ? `VRF ${vrfname} is missing` : `link ${vrfname} is no VRF`]);
  }
  const link = await container.links.find(ifName);
  if (link === undefined) return reportDrift([`link ${ifName} is missing`]);
  const isPort = link.master === vrf.index;
  // Before the interface came in, sbr may have given it tables of its own; in the main table a route is lost.
  const routes = (isPort ? await container.routes.list({ link: link.index }) : []).filter(
    (route) => route.table !== MAIN_TABLE,
  );
  reportDrift([
    ...(device.up ? [] : [`VRF ${vrfname} should be up`]),
    ...(table === 0 || vrf.table === table
      ? []
      : [`VRF ${vrfname} should have table ${table}, but has ${vrf.table}`]),
    ...(isPort ? checkRoutes(routes, vrf, result, ifName) : [`link ${ifName} should be in VRF ${vrfname}`]),
  ]);
}

function checkRoutes(routes: readonly Route[], vrf: Vrf, result: Result, ifName: string): Findings {
  const { ips = [], interfaces = [], routes: wanted = [] } = result;
  const missing = (what: string) => [`the route to ${what} is missing in table ${vrf.table}`];
  const networks = ips
    .filter(({ interface: index = -1 }) => (interfaces[index]?.name ?? ifName) === ifName)
    .map(({ address }) => Prefix.parse(address))
    .filter((prefix) => !prefix.isSingle)
    .map((prefix) => prefix.masked());
  return [
    ...networks.flatMap((network) =>
      routes.some(({ dst }) => dst.equals(network)) ? [] : missing(`${network}`),
    ),
    ...wanted
      // A table that the result names is not the VRF's business.
      .filter(({ table }) => table === undefined)
      .flatMap(({ dst, gw }) =>
        routes.some((route) => isSuch(route, dst, gw)) ? [] : missing(gw ? `${dst} via ${gw}` : dst),
      ),
  ];
}

function isSuch(route: Route, dst: string, gw: string | undefined): boolean {
  if (!route.dst.equals(Prefix.parse(dst).masked())) return false;
  const gateway = gw === undefined || gw === '' ? undefined : Addr.parse(gw);
  return gateway === undefined || gatewaysIn(route).some((each) => each.equals(gateway));
}
