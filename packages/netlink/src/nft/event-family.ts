/** What a notification of a change to the ruleset is about — linux/netfilter/nfnetlink.h */
import { decode } from '@heddle/wire';
import type { KernelEvent } from '../session/events.ts';
import { NFNL_SUBSYS, nfgenmsg } from './codec/nfgenmsg.ts';
import type { NftFamily } from './model.ts';

/**
 * The family of the table that an event of the group `nft` tells of a change in; `undefined` for other events, and for
 * the one that ends a transaction.
 *
 * @example onEvent: (event) => nftFamilyOf(event) === 'inet' && look()
 */
export function nftFamilyOf(event: KernelEvent): NftFamily | undefined {
  if (event.kind !== 'netfilter' || event.type >> 8 !== NFNL_SUBSYS.NFTABLES) return undefined;
  const { family } = decode(nfgenmsg, event.body.subarray(0, nfgenmsg.size));
  return family === 'unspec' ? undefined : (family as NftFamily);
}
