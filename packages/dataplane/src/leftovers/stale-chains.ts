import type { AttachmentId } from '@heddle/cni';
import type { KernelSession } from '@heddle/netlink';
import type { StaleFilter } from '../stale-filter.ts';
import { tablesOf } from '../tables.ts';
import { type Leftover, removeIptablesChain } from './iptables-chains.ts';
import { iptablesOwners } from './iptables-owners.ts';

/**
 * Takes away the chains of a network's stale containers. Chains do not know the interface: one is stale when no
 * attachment of its container is valid.
 *
 * @param referrer the shared chain that leads to them
 * @param leftoverOf what is left of an owner, of whom only network and container are known
 */
export async function removeStaleChains(
  host: KernelSession,
  gc: StaleFilter,
  referrer: string,
  leftoverOf: (owner: AttachmentId) => Omit<Leftover, 'referrer'>,
): Promise<void> {
  const tables = await tablesOf(host);
  const stale = await gc.stale(
    () => iptablesOwners(host, tables, referrer),
    ({ network, containerID }) => (network === gc.network ? { containerID } : undefined),
  );
  for (const { network, containerID, chain } of stale) {
    const leftover = leftoverOf({ network, containerID, ifName: '' });
    // A chain of another kind that only speaks of the same container is not ours to take.
    if (leftover.chain === chain) await removeIptablesChain(host, tables, { ...leftover, referrer });
  }
}
