/** Finding an attachment's rules in the kernel again: they do not say whose they are, but where packets come from. */

import { type Addr, Prefix } from '@heddle/netaddr';
import type { KernelSession, Route, Rule } from '@heddle/netlink';

/** What rules are looked for. */
export interface RuleQuery {
  /** The addresses that packets come from. */
  readonly addresses: readonly Addr[];
  /** Index of the interface; `undefined` when it is gone. */
  readonly link: number | undefined;
  /** The table that the configuration names. */
  readonly table: number | undefined;
}

/** A rule with the routes that it leads to. */
export interface FoundRule {
  readonly rule: Rule;
  readonly routes: readonly Route[];
}

/**
 * The rules for packets from these addresses. A rule for an address that two interfaces have belongs to the one by
 * which its table's routes leave.
 */
export async function findRules(
  container: KernelSession,
  { addresses, link, table }: RuleQuery,
): Promise<readonly FoundRule[]> {
  const hosts = addresses.map((address) => Prefix.host(address));
  const rules = (await container.rules.list({ table })).filter(
    ({ from }) => from !== undefined && hosts.some((host) => host.equals(from)),
  );
  if (rules.length === 0) return [];
  const routes = await container.routes.list();
  return rules
    .map((rule) => ({
      rule,
      routes: routes.filter((route) => route.table === rule.table && route.family === rule.family),
    }))
    .filter(
      ({ routes }) =>
        table !== undefined || routes.length === 0 || routes.some((route) => leavesBy(route, link)),
    );
}

function leavesBy(route: Route, index: number | undefined): boolean {
  const hops = route.nexthops ?? [route];
  return index !== undefined && hops.some(({ link }) => link === index);
}
