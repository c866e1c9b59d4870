/** Waiting until an IPv6 address can be found by its neighbours. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CNI_CODE, CniError } from '@heddle/cni';
import { type Addr, solicitedNode } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';

/**
 * Waits until the kernel takes in neighbour solicitations for these addresses; IPv4 ones are passed over. It
 * joins an address's solicited-node group (RFC 4291 §2.7.1) in a work queue of its own, mostly within a fraction
 * of a millisecond, also for an address that needs no duplicate detection. A solicitation that comes before is
 * lost, and repeated only after a second. That queue is one for all namespaces, and waits for the lock of all changes to
 * links: on a node where much is set up at once it can take seconds, as duplicate detection can, which it does too.
 *
 * @param link the index of the link that has the addresses
 * @throws {CniError} code 11 naming an address, when it takes longer than five seconds
 */
export async function awaitSolicitations(
  session: KernelSession,
  link: number,
  addresses: readonly Addr[],
): Promise<void> {
  const wanted = addresses.filter(({ family }) => family === 6);
  for (let waited = 0, pause = 1; wanted.length > 0; waited += pause) {
    const joined = new Set((await session.addresses.groups(link)).map(String));
    const missing = wanted.find((address) => !joined.has(`${solicitedNode(address)}`));
    if (missing === undefined) return;
    // Without neighbour discovery there is nothing to join.
    if (waited === 0 && ((await session.links.get(link)).flags & IFF_NOARP) !== 0) return;
    if (waited >= LIMIT_MS) {
      throw new CniError(
        CNI_CODE.TRY_AGAIN,
        `address ${missing} still cannot be solicited after ${LIMIT_MS} ms`,
      );
    }
    if (waited >= BRIEF_MS) pause = 10;
    await sleep(pause);
  }
}

/** As long as it mostly takes at most; then it is asked for less often. */
const BRIEF_MS = 50;
const LIMIT_MS = 5000;
/** linux/if.h */
const IFF_NOARP = 0x80;
