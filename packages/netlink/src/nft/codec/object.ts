/** NFTA_OBJ_* — linux/netfilter/nf_tables.h, enum nft_object_attributes */
import { attr, attrs, choice, cstring, headed, oneOf, rest, u32be, u64be } from '@heddle/wire';
import { handleOf } from './data.ts';
import { nfgenmsg } from './nfgenmsg.ts';

/** NFTA_COUNTER_* */
const counter = attrs('NFTA_COUNTER', { bytes: attr(1, u64be), packets: attr(2, u64be) });

/** A named object: NFT_MSG_NEWOBJ, GETOBJ, DELOBJ. */
export const objectMessage = headed(
  nfgenmsg,
  attrs('NFTA_OBJ', {
    table: attr(1, cstring),
    name: attr(2, cstring),
    type: attr(3, oneOf(u32be, { counter: 1, quota: 2, 'ct helper': 3, limit: 4, connlimit: 5 })),
    userdata: attr(8, rest),
    data: choice(4, 'type', { counter }),
    use: attr(5, u32be),
    handle: attr(6, handleOf(u64be)),
  }),
);
