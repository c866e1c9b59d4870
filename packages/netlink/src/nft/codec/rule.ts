/** NFTA_RULE_* — linux/netfilter/nf_tables.h, enum nft_rule_attributes */
import { attr, attrs, cstring, headed, rest, u32be, u64be } from '@heddle/wire';
import { handleOf } from './data.ts';
import { nested } from './expression-list.ts';
import { expressions } from './expressions.ts';
import { nfgenmsg } from './nfgenmsg.ts';

/** NFTA_RULE_COMPAT_*: the transport protocol that an iptables extension is told; flag 2 inverts. */
const compatAttrs = attrs('NFTA_RULE_COMPAT', { protocol: attr(1, u32be), flags: attr(2, u32be) });

/** A rule: NFT_MSG_NEWRULE, GETRULE, DELRULE. */
export const ruleMessage = headed(
  nfgenmsg,
  attrs('NFTA_RULE', {
    table: attr(1, cstring),
    chain: attr(2, cstring),
    handle: attr(3, handleOf(u64be)),
    position: attr(6, handleOf(u64be)),
    expressions: nested(attr(4, expressions)),
    compat: attr(5, compatAttrs),
    userdata: attr(7, rest),
    id: attr(9, u32be),
  }),
);
