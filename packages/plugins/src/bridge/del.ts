/**
 * DEL: everything of the attachment is taken down, with or without its namespace, its result or the links; also
 * what the reference's plugin of this name left. The bridge stays, as others may use it.
 */
import { type DelCall, isAbsent } from '@heddle/cni/plugin';
import { Prefix } from '@heddle/netaddr';
import type { KernelSession, Link } from '@heddle/netlink';
import { forgetNeighbours } from '../interface/announce.ts';
import { findHostEnd } from '../interface/veth.ts';
import { type BridgeConfig, hasIpam } from './config.ts';
import { vlanGatewayName } from './gateway.ts';

type Call = DelCall<BridgeConfig>;

/** See the file's comment. */
export async function del(call: Call): Promise<void> {
  const { config, host, attachment, ifName, teardown } = call;
  const inside = await teardown.step(`open the namespace ${call.netnsPath}`, () => call.container);
  const own = await inside?.links.find(ifName);
  const prefixes = await prefixesOf(call, inside, own);
  // With it goes the container's end, wherever that is.
  const end = await teardown.step(`delete the host's end of ${ifName}`, async () => {
    const found = await findHostEnd(host, attachment);
    if (found !== undefined) await host.links.delete(found.index);
    return found;
  });
  if (inside !== undefined && own !== undefined && !areEnds(own, end)) {
    await teardown.step(`delete link ${ifName}`, () => inside.links.delete(own.index));
  }
  if (hasIpam(config)) await teardown.step('release the addresses', () => call.ipam.del());
  if (config.macspoofchk) {
    await teardown.step('remove the check of source addresses', async () => {
      const { removeSpoofCheck } = await import('../interface/host-rules.ts');
      await removeSpoofCheck(host, attachment);
    });
  }
  if (config.ipMasq) {
    await teardown.step('remove masquerading', async () => {
      const { removeMasquerade } = await import('../interface/host-rules.ts');
      await removeMasquerade(host, attachment, prefixes);
    });
  }
  await teardown.step('forget the neighbours', () => forget(call, prefixes, end));
}

/** The attachment's addresses, from the interface or else from the result. */
async function prefixesOf(
  { prevResult }: Call,
  inside: KernelSession | undefined,
  link: Link | undefined,
): Promise<readonly Prefix[]> {
  const told = (prevResult?.ips ?? []).map(({ address }) => Prefix.parse(address));
  if (link === undefined) return told;
  try {
    const found = (await inside?.addresses.list({ link: link.index })) ?? [];
    const own = found.map(({ prefix }) => prefix).filter(({ addr }) => addr.isGlobalUnicast);
    return own.length > 0 ? own : told;
  } catch (error) {
    if (!isAbsent(error)) throw error;
    return told;
  }
}

/** Whether two links are the ends of one pair. */
function areEnds(inside: Link, host: Link | undefined): boolean {
  return host !== undefined && inside.parent === host.index && host.parent === inside.index;
}

async function forget(
  { config, host }: Call,
  prefixes: readonly Prefix[],
  end: Link | undefined,
): Promise<void> {
  if (prefixes.length === 0) return;
  const name = config.vlan === 0 ? config.bridge : vlanGatewayName(config);
  const known = config.vlan === 0 ? end?.master : undefined;
  const index = known ?? (await host.links.find(name))?.index;
  if (index === undefined) return;
  await forgetNeighbours(
    host,
    index,
    prefixes.map(({ addr }) => addr),
  );
}
