/**
 * DEL: the rules for the container's addresses on this interface go, and its routes are in the main table again: the
 * interface may outlive the chain.
 */
import type { Result } from '@heddle/cni';
import { type DelCall, isAbsent } from '@heddle/cni/plugin';
import { ROUTE_PROTOCOL } from '@heddle/dataplane';
import { type Addr, Prefix } from '@heddle/netaddr';
import type { KernelSession, Route, RouteSpec } from '@heddle/netlink';
import { withNetnsLock } from '../interface/netns-lock.ts';
import { MAIN_TABLE, onLinkFirst } from '../interface/route-tables.ts';
import { restore } from './add.ts';
import type { SbrConfig } from './config.ts';
import { findRules } from './rules-of.ts';

type Call = DelCall<SbrConfig>;

/** See the file's comment. Without the namespace there is nothing left to do. */
export async function del(call: Call): Promise<void> {
  const { teardown } = call;
  const container = await teardown.step(`open the namespace ${call.netnsPath}`, () => call.container);
  if (container === undefined) return;
  await teardown.step('delete the rules', () =>
    withNetnsLock(container.handle, () => deleteRules(call, container)),
  );
}

async function deleteRules(call: Call, container: KernelSession): Promise<void> {
  const { config, ifName, teardown } = call;
  const link = await container.links.find(ifName);
  const addresses = await addressesOf(call, container);
  const found = await findRules(container, { addresses, link: link?.index, table: config.table });
  for (const { rule, routes } of found) {
    const own = routes.filter((route) => route.protocol === ROUTE_PROTOCOL && route.link === link?.index);
    // A VRF kept what it had.
    if (link !== undefined && link.master === undefined) {
      await takeDownHints(call, container, link.index);
      for (const route of onLinkFirst(formerly(own, rule.from, call.prevResult))) {
        await teardown.step(`restore the route to ${route.dst}`, () => restore(container, route));
      }
    }
    // The interface may stay; what leads out of it must not fill a table that the next ADD takes.
    for (const route of onLinkFirst(own).toReversed()) {
      await teardown.step(`delete the route to ${route.dst}`, () => container.routes.delete(route));
    }
    // Last: a DEL that comes after one that died finds the routes by it.
    await teardown.step(`delete the rule for ${rule.from}`, () => container.rules.delete(rule));
  }
}

/** The subnets' routes that ADD has made in place of the kernel's. */
async function takeDownHints({ teardown }: Call, { routes }: KernelSession, link: number): Promise<void> {
  const hints = (await routes.list({ table: MAIN_TABLE, link })).filter(
    ({ protocol }) => protocol === ROUTE_PROTOCOL,
  );
  for (const hint of hints) {
    await teardown.step(`delete the route to ${hint.dst}`, () => routes.delete(hint));
  }
}

/**
 * What was in the main table: the routes that the kernel had made of the addresses, and those that the result knows of.
 * Others may have been made for the table alone.
 */
function formerly(
  own: readonly Route[],
  from: Prefix | undefined,
  { routes = [] }: Partial<Result> = {},
): readonly RouteSpec[] {
  const known = routes.map(({ dst }) => Prefix.parse(dst).masked());
  return own.flatMap(({ dst, gateway, via, link, scope, metric, onlink }): RouteSpec[] => {
    const common = { dst, link, scope, metric, table: MAIN_TABLE };
    if (gateway === undefined && via === undefined) {
      return [{ ...common, protocol: RTPROT_KERNEL, ...(dst.family === 4 && { source: from?.addr }) }];
    }
    return known.some((each) => each.equals(dst))
      ? [{ ...common, gateway, via, onlink, protocol: RTPROT_BOOT }]
      : [];
  });
}

/** linux/rtnetlink.h */
const RTPROT_KERNEL = 2;
const RTPROT_BOOT = 3;

/** The addresses that the interface has, and those that the result knows of. */
async function addressesOf({ ifName, prevResult }: Call, container: KernelSession): Promise<readonly Addr[]> {
  const { ips = [], interfaces = [] } = prevResult ?? {};
  const told = ips
    .filter(({ interface: index = -1 }) => (interfaces[index]?.name ?? ifName) === ifName)
    .map(({ address }) => Prefix.parse(address).addr);
  try {
    const found = await container.addresses.list({ link: ifName });
    return [...told, ...found.map(({ prefix }) => prefix.addr)];
  } catch (error) {
    if (!isAbsent(error)) throw error;
    return told;
  }
}
