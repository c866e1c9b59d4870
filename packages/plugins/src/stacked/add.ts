/** ADD: a link on the master for the container, with addresses where somebody gives some. */
import { CURRENT_VERSION, type Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import type { Link } from '@heddle/netlink';
import { enableAnnouncements } from '../interface/announce.ts';
import { applyResult } from '../interface/apply-result.ts';
import { chooseDns } from '../interface/dns.ts';
import { hasIpam, type StackedConfig } from './config.ts';
import type { StackedKind } from './kind.ts';
import { makeLink } from './link.ts';
import { checkMtu, findMaster } from './master.ts';

/** See the file's comment. Whatever fails, the call's undo stack takes back what was done. */
export async function addStacked<C extends StackedConfig>(
  call: AddCall<C>,
  kind: StackedKind<C>,
): Promise<Result> {
  const { config, container, ifName, netnsPath } = call;
  const master = await masterOf(call, kind);
  const link = await makeLink(call, kind, master);
  const given = hasIpam(config) ? await call.ipam.add() : kind.addressesWithoutIpam?.(call);
  const dns = chooseDns(config.dns, undefined);
  const result: Result = {
    cniVersion: CURRENT_VERSION,
    interfaces: [{ name: ifName, ...(link.mac !== undefined && { mac: `${link.mac}` }), sandbox: netnsPath }],
    ...(given?.ips !== undefined && { ips: given.ips.map((ip) => ({ ...ip, interface: 0 })) }),
    ...(given?.routes !== undefined && { routes: given.routes }),
    // Address management has no say in it, as in the reference.
    ...(dns !== undefined && { dns }),
  };
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
  await enableAnnouncements(container, ifName);
  await applyResult(container, link, result, {
    duplicateDetection: true,
    announced: true,
    warn: (message) => call.warn(message),
  });
}
