/** NFTA_TRACE_* — linux/netfilter/nf_tables.h, enum nft_trace_attributes */
import { attr, attrs, cstring, headed, oneOf, rest, u16be, u32be, u64be } from '@heddle/wire';
import { handleOf, verdictAttrs } from './data.ts';
import { nfgenmsg } from './nfgenmsg.ts';

/** A step of a traced packet: NFT_MSG_TRACE. */
export const traceMessage = headed(
  nfgenmsg,
  attrs('NFTA_TRACE', {
    table: attr(1, cstring),
    chain: attr(2, cstring),
    rule: attr(3, handleOf(u64be)),
    type: attr(4, oneOf(u32be, { policy: 1, return: 2, rule: 3 })),
    verdict: attr(5, verdictAttrs),
    id: attr(6, u32be),
    linkHeader: attr(7, rest),
    networkHeader: attr(8, rest),
    transportHeader: attr(9, rest),
    iif: attr(10, u32be),
    iifType: attr(11, u16be),
    oif: attr(12, u32be),
    oifType: attr(13, u16be),
    mark: attr(14, u32be),
    protocol: attr(15, u32be),
    policy: attr(16, oneOf(u32be, { drop: 0, accept: 1 })),
  }),
);
