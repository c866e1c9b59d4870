/** The bridge itself, which all attachments of a network share: it is made when missing and never deleted. */
import { CNI_CODE, CniError } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import { type Link, NetlinkError } from '@heddle/netlink';
import { trySysctls } from '../interface/ipv6.ts';
import { randomMac } from '../interface/veth.ts';
import { type BridgeConfig, filtersVlans } from './config.ts';

type Call = Pick<AddCall<BridgeConfig>, 'host' | 'config' | 'random' | 'warn'>;

/**
 * The configured bridge, up. One that is missing is made, with a hardware address of its own from the start:
 * without one it would take the lowest of its ports' and change it as containers come and go. One that exists
 * is taken as it is; nobody knows who else uses it.
 *
 * @throws {CniError} code 7 when the name belongs to something that is no bridge
 */
export async function ensureBridge(call: Call): Promise<Link> {
  const { host, config } = call;
  const name = config.bridge;
  const link = (await host.links.find(name)) ?? (await makeBridge(call));
  if (link.kind !== 'bridge') throw notABridge(link);
  if (filtersVlans(config) && link.data?.kind === 'bridge' && link.data.vlanFiltering === false) {
    call.warn(`bridge ${name} does not filter VLANs: containers of different VLANs meet on it`);
  }
  const wantsPromiscuity = config.promiscMode && (link.flags & IFF_PROMISC) === 0;
  if (link.up && !wantsPromiscuity) return link;
  await trySysctls(host, { [`net/ipv6/conf/${name}/accept_ra`]: '0' });
  await host.links.set(link.index, { up: true, ...(wantsPromiscuity && { promiscuous: true }) });
  return link;
}

/** The refusal to use a link as the network's bridge. */
export function notABridge({ name, kind }: Link): CniError {
  const what = kind === undefined ? 'a link without a kind' : `a ${kind}`;
  return new CniError(
    CNI_CODE.INVALID_CONFIG,
    `${JSON.stringify(name)} already exists but is not a bridge (it is ${what})`,
    {
      hint: 'set "bridge" to another name, or remove that link',
    },
  );
}

async function makeBridge({ host, config, random }: Call): Promise<Link> {
  const { bridge: name, mtu } = config;
  try {
    await host.links.add({
      name,
      kind: 'bridge',
      mac: randomMac(random),
      ...(mtu > 0 && { mtu }),
      ...(filtersVlans(config) && { vlanFiltering: true }),
    });
  } catch (error) {
    // Another ADD of the same network made it in the meantime.
    if (!NetlinkError.is(error, 'EEXIST')) throw error;
  }
  return host.links.get(name);
}

/** linux/if.h */
const IFF_PROMISC = 0x100;
