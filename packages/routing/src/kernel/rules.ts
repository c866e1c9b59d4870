/** The rules that the cluster's pods need of the node's packet filter, each kind compared and made as a whole. */
import {
  isForwardUntold,
  removeClusterForward,
  removeClusterNat,
  removeClusterSources,
  syncClusterForward,
  syncClusterNat,
  syncClusterSources,
} from '@heddle/dataplane';
import type { KernelSession } from '@heddle/netlink';
import type { DesiredForward, DesiredNat, DesiredObject, DesiredSources } from '../calculate/desired.ts';

/** A kind of them. */
export type RuleKind = (DesiredNat | DesiredSources | DesiredForward)['kind'];

/** In the order in which they are made. Of each there is at most one. */
export const RULE_KINDS: readonly RuleKind[] = ['nat', 'sources', 'forward'];

/** Brings one kind to what is wanted; without, there is none of it. @returns how many changes it took */
export async function syncRules(
  session: KernelSession,
  kind: RuleKind,
  wanted: DesiredObject | undefined,
): Promise<number> {
  switch (wanted?.kind ?? kind) {
    case 'nat':
      return wanted?.kind === 'nat' ? await syncClusterNat(session, wanted) : await removeClusterNat(session);
    case 'sources':
      return await (wanted === undefined ? removeClusterSources : syncClusterSources)(session);
    default:
      return wanted?.kind === 'forward'
        ? await syncClusterForward(session, wanted.pools)
        : await removeClusterForward(session);
  }
}

/** Those whose changes by others the kernel does not tell of here. */
export function untoldRules(session: KernelSession): readonly RuleKind[] {
  return isForwardUntold(session) ? ['forward'] : [];
}
