/**
 * Taking an interface into a VRF and out again with all that it has. The kernel sets it down and up on the way, by which
 * it loses its routes, and IPv6 addresses unless `keep_addr_on_down` is set.
 */
import type { Address, AddressSpec, KernelSession, Route } from '@heddle/netlink';
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
  const routes = belongings.routes.map((route) => ({
    ...route,
    table: route.table === MAIN_TABLE ? vrf.table : route.table,
  }));
  await move(container, link, vrf.index, { ...belongings, routes });
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
  await move(container, link, 0, belongings);
}

/**
 * Sets the interface's master, and gives it what it is to have then. All of that is one send, which nobody who kills this
 * process can part: what is lost in between, nobody would know any more.
 */
async function move(
  container: KernelSession,
  link: ContainerLink,
  master: number,
  belongings: Belongings,
): Promise<void> {
  const { links, addresses, routes } = container;
  try {
    await container.batch([
      links.plan.set(link.index, { master }),
      ...belongings.addresses.map((address) => addresses.plan.add(again(link, address))),
      ...onLinkFirst(belongings.routes).map((route) => routes.plan.append(route)),
    ]);
  } catch (error) {
    if (((await links.get(link.index)).master ?? 0) !== master) throw error;
    // Some are there still, and some routes have to wait for an address that is probed again.
    return restore(container, link, belongings);
  }
  await awaitAddresses(container, link, isLasting);
}

async function restore(
  container: KernelSession,
  link: ContainerLink,
  { addresses, routes }: Belongings,
): Promise<void> {
  const kept = await container.addresses.list({ link: link.index, family: 6 });
  for (const address of addresses) {
    if (kept.some(({ prefix }) => prefix.equals(address.prefix))) continue;
    await unless(['EEXIST'], () => container.addresses.add(again(link, address)));
  }
  await awaitAddresses(container, link, isLasting);
  for (const route of onLinkFirst(routes)) await appendRoute(container, route);
}

/** An address that the interface had. That nobody else has it was found out before. */
function again(link: ContainerLink, { prefix, peer }: Address): AddressSpec {
  return { link: link.index, prefix, noDad: true, ...(peer !== undefined && { peer }) };
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
