import type { GcOwner } from '@heddle/cni/plugin';
import { ownerTag, tagKey } from '@heddle/cni/plugin';
import type { StaleFilter } from '../stale-filter.ts';

/** Everything of a network is stale, but for these containers with interface `eth0`. */
export function staleAllBut(network: string, ...valid: readonly string[]): StaleFilter {
  const tags = new Set(
    valid.map((containerID) => tagKey(ownerTag({ network, containerID, ifName: 'eth0' }))),
  );
  const isValid = (owner: GcOwner) =>
    'id' in owner
      ? tags.has(tagKey(owner)) ||
        owner.network !== ownerTag({ network, containerID: '', ifName: '' }).network
      : valid.includes(owner.containerID);
  return {
    network,
    stale: async (list, ownerOf) =>
      (await list()).filter((item) => {
        const owner = ownerOf(item);
        return owner !== undefined && !isValid(owner);
      }),
  };
}
