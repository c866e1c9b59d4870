/** The link that others sit on. */
import { CNI_CODE, CniError, ConfigError } from '@heddle/cni';
import { Prefix } from '@heddle/netaddr';
import type { KernelSession, Link } from '@heddle/netlink';

/**
 * The master of that name; of the empty name the link of the first default route, IPv4 before IPv6, in the main
 * table.
 *
 * @param where the session's namespace, for messages: `on the host`
 * @throws {CniError} code 140 when there is none
 */
export async function findMaster(session: KernelSession, name: string, where: string): Promise<Link> {
  const link = await session.links.find(name === '' ? await defaultRouteLink(session) : name);
  if (link !== undefined) return link;
  throw new CniError(CNI_CODE.NOT_FOUND, `master ${JSON.stringify(name)} not found ${where}`);
}

/** @throws {ConfigError} when a link of that MTU cannot sit on the master; 0 takes the master's own */
export function checkMtu(mtu: number, master: Link): void {
  if (mtu >= 0 && mtu <= master.mtu) return;
  throw new ConfigError(`invalid MTU ${mtu}, must be [0, master MTU(${master.mtu})]`, {
    pointer: '/mtu',
    expected: `an integer from 0 to ${master.mtu}, the MTU of ${master.name}`,
    received: `${mtu}`,
  });
}

async function defaultRouteLink(session: KernelSession): Promise<number> {
  for (const dst of [Prefix.DEFAULT4, Prefix.DEFAULT6]) {
    const routes = await session.routes.list({ family: dst.family, table: RT_TABLE_MAIN, dst });
    for (const { type, link, nexthops } of routes) {
      const index = link ?? nexthops?.[0]?.link;
      if (type === 'unicast' && index !== undefined) return index;
    }
  }
  throw new CniError(CNI_CODE.NOT_FOUND, 'no default route interface found', {
    hint: 'set "master" to the link to use',
  });
}

/** linux/rtnetlink.h */
const RT_TABLE_MAIN = 254;
