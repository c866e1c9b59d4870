/**
 * Taking an interface into a VRF and out again with all that it has. The kernel sets it down and up on the way, by which
 * it loses its routes, and IPv6 addresses unless `keep_addr_on_down` is set.
 */
import type { Address, KernelSession, Route } from '@heddle/netlink';
import { NetlinkError } from '@heddle/netlink';
import type { ContainerLink } from '../interface/apply-result.ts';
import { awaitAddresses } from '../interface/await-addresses.ts';
import { MAIN_TABLE, onLinkFirst, ownRoute } from '../interface/route-tables.ts';
import type { Vrf } from './device.ts';

/** What an interface has that does not come back by itself. */
export interface Belongings {
  /** IPv6 addresses beyond the link. */
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
}

/** What the interface has now. What the kernel or routers make is left out: they will make it again. */
export async function belongingsOf(container: KernelSession, link: number): Promise<Belongings> {
  const addresses = await container.addresses.list({ link, family: 6 });
  const routes = await container.routes.list({ link });
  return {
    addresses: addresses.filter(isLasting),
    routes: routes
      .filter(({ type, protocol }) => type === 'unicast' && !TRANSIENT.has(protocol))
      .flatMap((route) => ownRoute(route, link)),
  };
}

/** Takes the interface into the VRF. What it had in the main table is then in the VRF's. */
export async function enterVrf(
  container: KernelSession,
  link: ContainerLink,
  vrf: Vrf,
  belongings: Belongings,
): Promise<void> {
  await container.links.set(link.index, { master: vrf.index });
  const routes = belongings.routes.map((route) => ({
    ...route,
    table: route.table === MAIN_TABLE ? vrf.table : route.table,
  }));
  await restore(container, link, { ...belongings, routes });
  // Of an interface that was down, nothing was lost.
  for (const route of belongings.routes.filter(({ table }) => table === MAIN_TABLE)) {
    await unless(['ESRCH', 'ENOENT'], () => container.routes.delete(route));
  }
}

/** What an interface of the VRF has, as it would have it outside. */
export function inMainTable({ addresses, routes }: Belongings, { table }: Vrf): Belongings {
  return {
    addresses,
    routes: routes.map((route) => (route.table === table ? { ...route, table: MAIN_TABLE } : route)),
  };
}

/** Takes the interface out of its VRF, and gives it back what it is to have there. */
export async function leaveVrf(
  container: KernelSession,
  link: ContainerLink,
  belongings: Belongings,
): Promise<void> {
  await container.links.set(link.index, { master: 0 });
  await restore(container, link, belongings);
}

async function restore(
  container: KernelSession,
  link: ContainerLink,
  { addresses, routes }: Belongings,
): Promise<void> {
  const kept = await container.addresses.list({ link: link.index, family: 6 });
  for (const { prefix, peer } of addresses) {
    if (kept.some((address) => address.prefix.equals(prefix))) continue;
    // That nobody else has it was found out before.
    const spec = { link: link.index, prefix, noDad: true, ...(peer !== undefined && { peer }) };
    await unless(['EEXIST'], () => container.addresses.add(spec));
  }
  await awaitAddresses(container, link, isLasting);
  for (const route of onLinkFirst(routes)) await appendRoute(container, route);
}

/**
 * Outside of the VRF's own table the kernel does not know the interface's IPv4 addresses any more, and refuses routes
 * that prefer one of them; the others are as good.
 */
async function appendRoute({ routes }: KernelSession, { source, ...route }: Route): Promise<void> {
  try {
    await unless(['EEXIST'], () => routes.append({ source, ...route }));
  } catch (error) {
    if (source === undefined || route.family !== 4 || !NetlinkError.is(error, 'EINVAL')) throw error;
    await unless(['EEXIST'], () => routes.append(route));
  }
}

/** Addresses of the link alone the kernel makes itself, and those of routers have an end. */
function isLasting({ scope, permanent, tentative, dadFailed }: Address): boolean {
  return scope === 0 && (permanent || tentative || dadFailed);
}

async function unless(codes: readonly [string, ...string[]], change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (!NetlinkError.is(error, ...codes)) throw error;
  }
}

/** RTPROT_REDIRECT, RTPROT_KERNEL, RTPROT_RA — linux/rtnetlink.h */
const TRANSIENT: ReadonlySet<number> = new Set([1, 2, 9]);
