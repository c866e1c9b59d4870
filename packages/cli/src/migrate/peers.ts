/** The other nodes of a former network, by the routes that this one has to them. */
import { ROUTE_PROTOCOL } from '@heddle/dataplane';
import type { Prefix } from '@heddle/netaddr';
import type { KernelSession, Route } from '@heddle/netlink';

/** RT_TABLE_MAIN; linux/rtnetlink.h */
const MAIN_TABLE = 254;

/** Routes to subnets of these ranges by way of another node, and not made by Heddle. */
export async function formerRoutes(
  session: KernelSession,
  ranges: readonly Prefix[],
): Promise<readonly Route[]> {
  const routes = await session.routes.list({ table: MAIN_TABLE });
  return routes.filter(
    ({ dst, gateway, via, type, protocol }) =>
      type === 'unicast' &&
      protocol !== ROUTE_PROTOCOL &&
      (gateway !== undefined || via !== undefined) &&
      ranges.some((range) => range.bits < dst.bits && range.containsPrefix(dst)),
  );
}

/** The subnets of other nodes. */
export async function formerPeers(
  session: KernelSession,
  ranges: readonly Prefix[],
  { subnets }: { readonly subnets: readonly Prefix[] },
): Promise<readonly Prefix[]> {
  const routes = await formerRoutes(session, ranges);
  return routes.map(({ dst }) => dst).filter((dst) => !subnets.some((own) => own.equals(dst)));
}
