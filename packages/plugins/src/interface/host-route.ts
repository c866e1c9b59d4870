/** The host's routes to containers. */
import type { AddCall } from '@heddle/cni/plugin';
import { NetlinkError, type RouteSpec } from '@heddle/netlink';

/** Adds a route. An address that was given to this container is no longer where an older route says. */
export async function addHostRoute(call: AddCall<unknown>, route: RouteSpec): Promise<void> {
  const { host } = call;
  try {
    await host.routes.add(route);
  } catch (error) {
    if (!NetlinkError.is(error, 'EEXIST')) throw error;
    const [old] = await host.routes.list({ dst: route.dst, table: RT_TABLE_MAIN });
    const before = old?.link === undefined ? undefined : await host.links.find(old.link);
    await host.routes.replace(route);
    call.warn(`replaced the host's route to ${route.dst}, which was on ${before?.name ?? 'no link'}`);
  }
}

/** linux/rtnetlink.h */
const RT_TABLE_MAIN = 254;
