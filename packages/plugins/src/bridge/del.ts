/**
 * DEL: everything of the attachment is taken down, with or without its namespace, its result or the links; also
 * what the reference's plugin of this name left. The bridge stays, as others may use it.
 */
import { type DelCall, isAbsent } from '@heddle/cni/plugin';
import { Prefix } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import { forgetNeighbours } from '../interface/announce.ts';
import { findHostEnd } from '../interface/veth.ts';
import { type BridgeConfig, hasIpam } from './config.ts';
import { vlanGatewayName } from './gateway.ts';

type Call = DelCall<BridgeConfig>;

/** See the file's comment. */
export async function del(call: Call): Promise<void> {
  const { config, host, attachment, ifName, teardown } = call;
  const inside = await teardown.step(`open the namespace ${call.netnsPath}`, () => call.container);
  const prefixes = await prefixesOf(call, inside);
  // With it goes the container's end, wherever that is.
  await teardown.step(`delete the host's end of ${ifName}`, async () => {
    const end = await findHostEnd(host, attachment);
    if (end !== undefined) await host.links.delete(end.index);
  });
  if (inside !== undefined) {
    await teardown.step(`delete link ${ifName}`, async () => {
      const left = await inside.links.find(ifName);
      if (left !== undefined) await inside.links.delete(left.index);
    });
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
  await teardown.step('forget the neighbours', () => forget(call, prefixes));
}

/** The attachment's addresses, from the interface or else from the result. */
async function prefixesOf(
  { ifName, prevResult }: Call,
  inside: KernelSession | undefined,
): Promise<readonly Prefix[]> {
  const told = (prevResult?.ips ?? []).map(({ address }) => Prefix.parse(address));
  try {
    const found = (await inside?.addresses.list({ link: ifName })) ?? [];
    const own = found.map(({ prefix }) => prefix).filter(({ addr }) => addr.isGlobalUnicast);
    return own.length > 0 ? own : told;
  } catch (error) {
    if (!isAbsent(error)) throw error;
    return told;
  }
}

async function forget({ config, host }: Call, prefixes: readonly Prefix[]): Promise<void> {
  const name = config.vlan === 0 ? config.bridge : vlanGatewayName(config);
  const link = prefixes.length === 0 ? undefined : await host.links.find(name);
  if (link === undefined) return;
  await forgetNeighbours(
    host,
    link.index,
    prefixes.map(({ addr }) => addr),
  );
}
