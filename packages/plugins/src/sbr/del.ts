/** DEL: the rules for the container's addresses on this interface go; the routes go with the interface. */
import { type DelCall, isAbsent } from '@heddle/cni/plugin';
import { ROUTE_PROTOCOL } from '@heddle/dataplane';
import { type Addr, Prefix } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import { withNetnsLock } from '../interface/netns-lock.ts';
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
    await teardown.step(`delete the rule for ${rule.from}`, () => container.rules.delete(rule));
    // The interface may stay; what leads out of it must not fill a table that the next ADD takes.
    const own = routes.filter((route) => route.protocol === ROUTE_PROTOCOL && route.link === link?.index);
    for (const route of own) {
      await teardown.step(`delete the route to ${route.dst}`, () => container.routes.delete(route));
    }
  }
}

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
