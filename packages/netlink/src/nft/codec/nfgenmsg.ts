/** `struct nfgenmsg` and the numbers of nfnetlink — linux/netfilter/nfnetlink.h, linux/netfilter.h */
import { attr, attrs, headed, oneOf, struct, u8, u16be, u32be } from '@heddle/wire';

/** NFPROTO_*: the family of a table, as `nft` names it. */
const family = oneOf(u8, { unspec: 0, inet: 1, ip: 2, arp: 3, netdev: 5, bridge: 7, ip6: 10 });

/** struct nfgenmsg. In answers `resource` holds the low half of the ruleset's generation. */
export const nfgenmsg = struct('nfgenmsg', { family, version: u8, resource: u16be });

/** NFNL_SUBSYS_*: the high byte of a message's type. */
export const NFNL_SUBSYS = { CTNETLINK: 1, NFTABLES: 10 } as const;

/** NFNL_MSG_BATCH_*: what encloses a transaction. */
export const NFNL_MSG_BATCH = { BEGIN: 0x10, END: 0x11 } as const;

/** NFT_MSG_*: messages of nf_tables. */
export const NFT_MSG = {
  NEWTABLE: 0,
  GETTABLE: 1,
  DELTABLE: 2,
  NEWCHAIN: 3,
  GETCHAIN: 4,
  DELCHAIN: 5,
  NEWRULE: 6,
  GETRULE: 7,
  DELRULE: 8,
  NEWSET: 9,
  GETSET: 10,
  DELSET: 11,
  NEWSETELEM: 12,
  GETSETELEM: 13,
  DELSETELEM: 14,
  NEWGEN: 15,
  GETGEN: 16,
  TRACE: 17,
  NEWOBJ: 18,
  GETOBJ: 19,
  DELOBJ: 20,
} as const;

/** NFNL_BATCH_*: a batch that names a generation is refused with ERESTART when it is no longer the current one. */
export const batchBegin = headed(nfgenmsg, attrs('NFNL_BATCH', { generation: attr(1, u32be) }));

/** NFTA_GEN_*: the ruleset's generation, counted up by every transaction. */
export const generationMessage = headed(nfgenmsg, attrs('NFTA_GEN', { id: attr(1, u32be) }));

/** The type of an nf_tables message. */
export function nftType(message: number): number {
  return (NFNL_SUBSYS.NFTABLES << 8) | message;
}
