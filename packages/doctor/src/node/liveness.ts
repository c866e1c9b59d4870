/** Whether the holder of an address is alive. The proof that it is not must be complete: whatever is in doubt, lives. */
import { ownerTag, tagKey } from '@heddle/cni/plugin';
import type { CachedAttachment } from '@heddle/cni/runtime';
import type { UsedAddresses } from './namespaces.ts';

/** What speaks for a holder of an address. */
export interface Holder {
  readonly network: string;
  readonly containerID: string;
  /** `undefined` in the oldest format of reservations: any interface of the container. */
  readonly ifName?: string | undefined;
  readonly addr: string;
}

/** What is known of the living. */
export interface Living {
  readonly cached: readonly Pick<CachedAttachment, 'network' | 'containerID' | 'ifName' | 'netns'>[];
  /** Attachments that a link of the node belongs to, by its alias. */
  readonly linked: readonly {
    readonly network: string;
    readonly containerID: string;
    readonly ifName: string;
  }[];
  /** Whether a namespace is there, or may be. */
  readonly hasNetns: (path: string) => boolean;
  /** Tags of attachments whose ADD is under way, as far as plugins tell. */
  readonly adding: ReadonlySet<string>;
  /** The addresses in all namespaces. */
  readonly addresses: UsedAddresses;
}

/** Why a holder is taken for alive; `undefined` when it is proven that it is not. */
export function signOfLife(
  holder: Holder,
  { cached, linked, hasNetns, adding, addresses }: Living,
): string | undefined {
  if (addresses.has(holder.addr)) return `${holder.addr} is in use in a namespace of this node`;
  if (holder.ifName !== undefined && adding.has(tagKey(ownerTag({ ...holder, ifName: holder.ifName }))))
    return 'it is just being attached';
  const entry = cached.find(
    (each) => isSame(holder, each) && (each.netns === undefined || hasNetns(each.netns)),
  );
  if (entry !== undefined) {
    return entry.netns === undefined ? "the runtime's cache has it" : `its namespace ${entry.netns} is there`;
  }
  if (linked.some((each) => isSame(holder, each))) return 'a link of this node belongs to it';
  return undefined;
}

function isSame(
  holder: Holder,
  id: { readonly network: string; readonly containerID: string; readonly ifName: string },
): boolean {
  if (holder.network !== id.network || holder.containerID !== id.containerID) return false;
  return holder.ifName === undefined || holder.ifName === id.ifName;
}
