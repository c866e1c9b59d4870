/** Waiting until an IPv6 address can be found by its neighbours. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CNI_CODE, CniError } from '@heddle/cni';
import { type Addr, solicitedNode } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import { readFileIn } from '@heddle/sys';

/**
 * Waits until the kernel takes in neighbour solicitations for these addresses; IPv4 ones are passed over. It
 * joins an address's solicited-node group (RFC 4291 §2.7.1) in a work queue of its own, mostly within a fraction
 * of a millisecond, also for an address that needs no duplicate detection. A solicitation that comes before is
 * lost, and repeated only after a second.
 *
 * @param link the index of the link that has the addresses
 * @throws {CniError} code 11 naming an address, when it takes longer than a second
 */
export async function awaitSolicitations(
  session: KernelSession,
  link: number,
  addresses: readonly Addr[],
): Promise<void> {
  const wanted = addresses.filter(({ family }) => family === 6);
  for (let waited = 0; wanted.length > 0; waited++) {
    const joined = joinedGroups(readFileIn(session.handle, IGMP6), link);
    const missing = wanted.find((address) => !joined.has(hexOf(solicitedNode(address))));
    if (missing === undefined) return;
    // Without neighbour discovery there is nothing to join.
    if (waited === 0 && ((await session.links.get(link)).flags & IFF_NOARP) !== 0) return;
    if (waited >= LIMIT_MS) {
      throw new CniError(
        CNI_CODE.TRY_AGAIN,
        `address ${missing} still cannot be solicited after ${LIMIT_MS} ms`,
      );
    }
    await sleep(1);
  }
}

/**
 * The groups that a link is in, in hexadecimal, from `/proc/net/igmp6`: index, name, group, users, flags, timer.
 *
 * @example joinedGroups('2    eth0            ff0200000000000000000001ff000064     1 00000004 0\n', 2)
 */
export function joinedGroups(text: string, link: number): ReadonlySet<string> {
  const rows = text.split('\n').map((line) => line.trim().split(/\s+/));
  return new Set(rows.filter(([index]) => index === `${link}`).map(([, , group = '']) => group));
}

function hexOf(address: Addr): string {
  return Buffer.from(address.toBytes()).toString('hex');
}

// The thread's own: it is the thread that is in the session's namespace while it opens the file.
const IGMP6 = '/proc/thread-self/net/igmp6';
const LIMIT_MS = 1000;
/** linux/if.h */
const IFF_NOARP = 0x80;
