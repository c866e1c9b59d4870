/** Waiting for IPv6 duplicate address detection (RFC 4862 §5.4). */
import { setTimeout as sleep } from 'node:timers/promises';
import { CNI_CODE, CniError } from '@heddle/cni';
import type { Address, KernelSession } from '@heddle/netlink';
import type { ContainerLink } from './apply-result.ts';

/**
 * Waits until no IPv6 address of the interface is tentative any more, for at most five seconds. Detection
 * needs a carrier: without one, running out of time is no failure.
 *
 * @param matters which addresses are waited for; all of them unless told otherwise
 * @throws {CniError} naming the address that another host has, or that is still tentative
 */
export async function awaitAddresses(
  container: KernelSession,
  link: ContainerLink,
  matters: (address: Address) => boolean = () => true,
): Promise<void> {
  for (let waited = 0; ; waited += POLL_MS) {
    const addresses = (await container.addresses.list({ link: link.index, family: 6 })).filter(matters);
    const duplicate = addresses.find(({ dadFailed }) => dadFailed);
    if (duplicate !== undefined) {
      throw new CniError(
        CNI_CODE.EXISTS,
        `address ${duplicate.prefix} on ${link.name} is a duplicate: another host has it`,
      );
    }
    const tentative = addresses.find((address) => address.tentative);
    if (tentative === undefined) return;
    if (waited >= LIMIT_MS) {
      if ((await container.links.get(link.index)).operstate !== 'up') return;
      throw new CniError(
        CNI_CODE.TRY_AGAIN,
        `address ${tentative.prefix} on ${link.name} is still tentative after ${LIMIT_MS} ms`,
      );
    }
    await sleep(POLL_MS);
  }
}

const POLL_MS = 50;
const LIMIT_MS = 5000;
