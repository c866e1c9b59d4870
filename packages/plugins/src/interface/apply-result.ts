/** Gives a container's interface the addresses and routes of a result, and sets it up. */
import { CNI_CODE, CniError, type IpConfig, type Result, toCniError } from '@heddle/cni';
import { Addr, Prefix } from '@heddle/netaddr';
import type { KernelSession, RouteSpec } from '@heddle/netlink';
import { awaitAddresses } from './await-addresses.ts';
import { awaitSolicitations } from './await-solicitations.ts';
import { enableIpv6 } from './ipv6.ts';
import { type PlannedAddress, planRoutes } from './plan-routes.ts';

/** The interface that a result is applied to. */
export interface ContainerLink {
  readonly name: string;
  readonly index: number;
}

/** How to apply a result. */
export interface ApplyOptions {
  /**
   * Whether IPv6 addresses wait for duplicate address detection, as the interface's sysctls have it; if not,
   * they can be used at once.
   */
  readonly duplicateDetection: boolean;
  /** The routes to the addresses' networks, where the kernel's own, on the link, are not right. */
  readonly networkRoutes?: readonly RouteSpec[] | undefined;
  /**
   * Whether the interface comes up with its addresses, at which the kernel announces them where
   * `announcementSysctls` say so. Left out, it is up before.
   */
  readonly announced?: boolean;
  readonly warn: (message: string) => void;
}

/**
 * Sets the interface up with the addresses of the result that belong to it, and with the result's routes. What
 * an address or route asks for is done in full: on-link gateways, several routes to one destination, metrics,
 * tables, scopes.
 *
 * All is sent to the kernel at once. When it refuses a part, the interface is left with the rest: delete it.
 *
 * @throws {CniError} when an address belongs to no interface of the result or to another one, is a duplicate
 *   of another host's, or naming each address and route that the kernel refused
 */
export async function applyResult(
  container: KernelSession,
  link: ContainerLink,
  result: Result,
  { duplicateDetection, networkRoutes, announced = false, warn }: ApplyOptions,
): Promise<void> {
  const addresses = addressesOf(link.name, result);
  const firstIpv6 = addresses.find(({ prefix }) => prefix.family === 6);
  if (firstIpv6 !== undefined) await enableIpv6(container, link.name, firstIpv6.prefix, warn);
  const { links, addresses: table, routes } = container;
  const up = links.plan.set(link.index, { up: true });
  const changes = [
    // Up first, where nothing is to be announced: the kernel makes the routes to the addresses' networks as they come.
    ...(announced ? [] : [up]),
    ...addresses.map(({ prefix }) =>
      table.plan.add({
        link: link.index,
        prefix,
        broadcast: 'auto',
        noDad: prefix.family === 6 && !duplicateDetection,
        noPrefixRoute: networkRoutes !== undefined,
      }),
    ),
    ...(announced ? [up] : []),
    ...planRoutes(link.index, addresses, result.routes ?? [], networkRoutes).map((route) =>
      routes.plan.append(route),
    ),
  ];
  try {
    await container.batch(changes);
  } catch (cause) {
    const { cniCode, message } = toCniError(cause);
    throw new CniError(cniCode, `configure ${link.name} (#${link.index}): ${message}`, { cause });
  }
  if (firstIpv6 !== undefined && duplicateDetection) await awaitAddresses(container, link);
  await awaitSolicitations(
    container,
    link.index,
    addresses.map(({ prefix }) => prefix.addr),
  );
}

/** The addresses of a result that belong to the interface of that name. */
export function addressesOf(
  ifName: string,
  { ips = [], interfaces = [] }: Result,
): readonly PlannedAddress[] {
  return ips.filter((ip) => ip.interface !== undefined).map((ip) => plannedAddress(ip, ifName, interfaces));
}

function plannedAddress(
  { address, gateway, interface: index = 0 }: IpConfig,
  ifName: string,
  interfaces: NonNullable<Result['interfaces']>,
): PlannedAddress {
  const owner = interfaces[index];
  if (owner === undefined) {
    throw invalid(`address ${address} names interface ${index}, but the result has ${interfaces.length}`);
  }
  if (owner.name !== ifName)
    throw invalid(`address ${address} is for interface ${owner.name}, not ${ifName}`);
  return {
    prefix: Prefix.parse(address),
    ...(gateway !== undefined && gateway !== '' && { gateway: Addr.parse(gateway) }),
  };
}

function invalid(message: string): CniError {
  return new CniError(CNI_CODE.INVALID_CONFIG, message);
}
