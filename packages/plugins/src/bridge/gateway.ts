/** The gateway's addresses on the host: on the bridge, or on a link of the host's own in the attachment's VLAN. */
import { CNI_CODE, CniError } from '@heddle/cni';
import type { Random } from '@heddle/cni/plugin';
import { type Addr, Prefix } from '@heddle/netaddr';
import { type Address, type KernelSession, type Link, NetlinkError } from '@heddle/netlink';
import { awaitSolicitations } from '../interface/await-solicitations.ts';
import type { PlannedAddress } from '../interface/plan-routes.ts';
import { randomMac } from '../interface/veth.ts';
import type { BridgeConfig } from './config.ts';
import { planVlans } from './port.ts';

/** The addresses that the gateway link must have: each gateway in the network of its address, each once. */
export function gatewayPrefixes(addresses: readonly PlannedAddress[]): readonly Prefix[] {
  const prefixes = addresses.flatMap(({ prefix, gateway }) =>
    gateway === undefined ? [] : [Prefix.of(gateway, prefix.bits)],
  );
  return [...new Map(prefixes.map((prefix) => [`${prefix}`, prefix])).values()];
}

/** The gateway of a network that names none: its first address. */
export function defaultGateway(prefix: Prefix): Addr {
  return prefix.network.next() ?? prefix.network;
}

/**
 * Gives a link the gateway's addresses. IPv6 ones can be used at once unless `enabledad` asks for duplicate
 * detection. When an address had to be added, the link's hardware address is pinned: a bridge that takes its
 * ports' would otherwise change it under the neighbours of the gateway.
 *
 * @param known the link's addresses, where they were read just now
 * @returns whether an address was added
 * @throws {CniError} code 141 when the link has another address of the family (IPv6: one of an overlapping
 *   network), and `forceAddress` does not allow to replace it
 */
export async function ensureAddresses(
  host: KernelSession,
  link: Link,
  prefixes: readonly Prefix[],
  { forceAddress, enabledad }: BridgeConfig,
  known?: readonly Address[],
): Promise<boolean> {
  if (prefixes.length === 0) return false;
  const present = known ?? (await host.addresses.list({ link: link.index }));
  const missing = prefixes.filter((prefix) => !present.some((address) => address.prefix.equals(prefix)));
  if (missing.length === 0) return false;
  for (const prefix of missing) {
    const conflicts = present.filter((address) => isConflict(address.prefix, prefix, prefixes));
    if (conflicts.length > 0 && !forceAddress) {
      const others = conflicts.map((address) => address.prefix).join(', ');
      throw new CniError(
        CNI_CODE.EXISTS,
        `${JSON.stringify(link.name)} already has an IP address different from ${prefix}`,
        { cniDetails: `it has ${others}`, hint: 'forceAddress replaces it' },
      );
    }
    for (const { prefix: old } of conflicts) await deleteAddress(host, link.index, old);
    await addAddress(host, link.index, prefix, !enabledad);
  }
  await pinMac(host, link.index);
  if (!enabledad) {
    await awaitSolicitations(
      host,
      link.index,
      missing.map(({ addr }) => addr),
    );
  }
  return true;
}

/** The host's link in a VLAN of the bridge: `<bridge>.<vlan>`, one end of a veth whose other end is a port. */
export function vlanGatewayName({ bridge, vlan }: BridgeConfig): string {
  return `${bridge}.${vlan}`;
}

/**
 * The host's link in the configured VLAN, up; it is shared, made when missing and never deleted. It is a veth,
 * not a VLAN link, so that the bridge alone decides who is in which VLAN. It comes up last: one that is down
 * may be what an ADD left that died, its port still in the wrong VLAN.
 */
export async function ensureVlanGateway(
  host: KernelSession,
  bridge: Link,
  config: BridgeConfig,
  random: Random,
): Promise<Link> {
  const name = vlanGatewayName(config);
  const { vlan: untagged, preserveDefaultVlan } = config;
  const found = await host.links.find(name);
  if (found?.up) return found;
  const { index, parent } = found ?? (await makeVlanGateway(host, bridge, name, config, random));
  const port = parent === undefined ? undefined : await host.links.find(parent);
  await host.batch([
    // Somebody else may have made the link, in another way.
    ...(port?.master === bridge.index
      ? await planVlans(host, port.index, { untagged, tagged: [] }, preserveDefaultVlan)
      : []),
    host.links.plan.set(index, { up: true }),
  ]);
  return host.links.get(index);
}

async function makeVlanGateway(
  host: KernelSession,
  bridge: Link,
  name: string,
  { mtu }: BridgeConfig,
  random: Random,
): Promise<Link> {
  const size = mtu > 0 ? { mtu } : {};
  try {
    await host.links.add({
      name: `veth${Buffer.from(random.bytes(4)).toString('hex')}`,
      kind: 'veth',
      up: true,
      master: bridge.index,
      mac: randomMac(random),
      ...size,
      peer: { name, mac: randomMac(random), ...size },
    });
  } catch (error) {
    // Another ADD made it in the meantime.
    if (!NetlinkError.is(error, 'EEXIST')) throw error;
  }
  return host.links.get(name);
}

/**
 * Every other IPv4 address is one; of IPv6, those whose network has addresses in common, but never two of the
 * link-local ones, which all do. Several gateways of one network are none to each other.
 */
function isConflict(present: Prefix, wanted: Prefix, all: readonly Prefix[]): boolean {
  if (present.family !== wanted.family || all.some((other) => other.equals(present))) return false;
  if (present.family === 4) return true;
  return present.overlaps(wanted) && !(present.addr.isLinkLocal && wanted.addr.isLinkLocal);
}

async function addAddress(host: KernelSession, link: number, prefix: Prefix, noDad: boolean): Promise<void> {
  try {
    await host.addresses.add({ link, prefix, broadcast: 'auto', noDad });
  } catch (error) {
    if (!NetlinkError.is(error, 'EEXIST')) throw error;
  }
}

async function deleteAddress(host: KernelSession, link: number, prefix: Prefix): Promise<void> {
  try {
    await host.addresses.delete({ link, prefix });
  } catch (error) {
    if (!NetlinkError.is(error, 'EADDRNOTAVAIL')) throw error;
  }
}

/** A bridge that never had a port has an address of zeros, which cannot be set; the attachment's port is there by now. */
async function pinMac(host: KernelSession, link: number): Promise<void> {
  const { mac } = await host.links.get(link);
  if (mac !== undefined && !mac.isZero) await host.links.set(link, { mac });
}
