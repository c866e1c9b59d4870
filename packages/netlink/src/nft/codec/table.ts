/** NFTA_TABLE_* — linux/netfilter/nf_tables.h, enum nft_table_attributes */
import { attr, attrs, cstring, headed, rest, u32be, u64be } from '@heddle/wire';
import { handleOf } from './data.ts';
import { nfgenmsg } from './nfgenmsg.ts';

/** A table: NFT_MSG_NEWTABLE, GETTABLE, DELTABLE. */
export const tableMessage = headed(
  nfgenmsg,
  attrs('NFTA_TABLE', {
    name: attr(1, cstring),
    flags: attr(2, u32be),
    use: attr(3, u32be),
    handle: attr(4, handleOf(u64be)),
    userdata: attr(6, rest),
    owner: attr(7, u32be),
  }),
);
