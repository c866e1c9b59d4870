/** Telling the neighbours of a container where its addresses are now. */

import type { Addr, Mac } from '@heddle/netaddr';
import { type KernelSession, NetlinkError } from '@heddle/netlink';
import { announcement } from './frames.ts';

/**
 * Announces every address from the container's interface. A neighbour that knew an address under another MAC,
 * because a container that is gone had it, would otherwise ask that MAC until its entry ages, for half a minute.
 *
 * The way from the interface to the neighbours must be open: a bridge drops frames from a port that does not
 * forward yet.
 */
export async function announce(
  container: KernelSession,
  link: { readonly index: number; readonly mac: Mac },
  addresses: readonly Addr[],
): Promise<void> {
  for (const address of addresses) {
    await container.packets.send(link.index, announcement(link.mac, address));
  }
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
