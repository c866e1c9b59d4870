/** ADD: a link on the master for the container, with addresses where somebody gives some. */
import type { Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import type { Link } from '@heddle/netlink';
import { announcementSysctls } from '../interface/announce.ts';
import { applyResult } from '../interface/apply-result.ts';
import { chooseDns } from '../interface/dns.ts';
import { trySysctls } from '../interface/ipv6.ts';
import { singleResult } from '../interface/single-result.ts';
import { hasIpam, type StackedConfig } from './config.ts';
import type { StackedKind } from './kind.ts';
import { makeLink } from './link.ts';
import { checkMtu, findMaster } from './master.ts';

/** See the file's comment. Whatever fails, the call's undo stack takes back what was done. */
export async function addStacked<C extends StackedConfig>(
  call: AddCall<C>,
  kind: StackedKind<C>,
): Promise<Result> {
  const { config, container } = call;
  const master = await masterOf(call, kind);
  const link = await makeLink(call, kind, master);
  const given = hasIpam(config) ? await call.ipam.add() : kind.addressesWithoutIpam?.(call);
  // Address management has no say in name resolution, as in the reference.
  const result = singleResult(call, link.mac, given, chooseDns(config.dns, undefined));
  if (given === undefined) await container.links.set(link.index, { up: true });
  else await configure(call, link, result);
  return result;
}

async function masterOf<C extends StackedConfig>(call: AddCall<C>, kind: StackedKind<C>): Promise<Link> {
  const { config } = call;
  const name = config.master || (kind.impliedMaster?.(call) ?? '');
  const master = config.linkInContainer
    ? await findMaster(call.container, name, `in the container ${call.netnsPath}`)
    : await findMaster(call.host, name, 'on the host');
  checkMtu(config.mtu, master);
  return master;
}

/** Gives the link its addresses, and the neighbours the news. */
async function configure<C extends StackedConfig>(
  call: AddCall<C>,
  link: Link,
  result: Result,
): Promise<void> {
  const { container, ifName } = call;
  await trySysctls(container, announcementSysctls(ifName));
  await applyResult(container, link, result, {
    duplicateDetection: true,
    announced: true,
    warn: (message) => call.warn(message),
  });
}
