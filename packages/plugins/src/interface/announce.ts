/** Telling the neighbours of a container where its addresses are now. */

import type { IpConfig } from '@heddle/cni';
import type { Addr, Mac } from '@heddle/netaddr';
import { type KernelSession, NetlinkError } from '@heddle/netlink';

/**
 * The kernel parameters that prepare {@link announce}: with them, the kernel announces the interface's addresses
 * whenever its hardware address is set.
 *
 * @param ips what the interface is to have; without, addresses of both families
 */
export function announcementSysctls(
  ifName: string,
  ips?: readonly IpConfig[],
): Readonly<Record<string, string>> {
  const has6 = ips === undefined || ips.some(({ address }) => address.includes(':'));
  return {
    [`net/ipv4/conf/${ifName}/arp_notify`]: '1',
    ...(has6 && { [`net/ipv6/conf/${ifName}/ndisc_notify`]: '1' }),
  };
}

/**
 * Announces every address of the interface, by gratuitous ARP and unsolicited neighbour advertisements. A
 * neighbour that knew an address under another hardware address, because a container that is gone had it, would
 * otherwise go on sending there until its entry ages, for half a minute.
 *
 * The way from the interface to the neighbours must be open: a bridge drops frames from a port that does not
 * forward yet, and the kernel's own announcement, when the interface comes up, is too early for it.
 *
 * It is done by setting the hardware address that the interface has already, which makes the kernel announce.
 * Sending the frames oneself takes a packet socket, and the kernel closes one only after an RCU grace period:
 * ten milliseconds, several times the cost of a whole ADD.
 */
export async function announce(
  container: KernelSession,
  { index, mac }: { readonly index: number; readonly mac: Mac },
): Promise<void> {
  await container.links.set(index, { mac });
}

/**
 * Forgets where the addresses of a container were, in the host's own neighbour table.
 *
 * @param link the host's link towards the container's network
 */
export async function forgetNeighbours(
  host: KernelSession,
  link: number,
  addresses: readonly Addr[],
): Promise<void> {
  for (const address of addresses) {
    try {
      await host.neighbours.delete({ link, address });
    } catch (error) {
      if (!NetlinkError.is(error, 'ENOENT', 'ENODEV')) throw error;
    }
  }
}
