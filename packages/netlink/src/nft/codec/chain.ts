/** NFTA_CHAIN_*, NFTA_HOOK_* — linux/netfilter/nf_tables.h */
import { attr, attrs, cstring, headed, i32be, many, oneOf, rest, u32be, u64be } from '@heddle/wire';
import { handleOf } from './data.ts';
import { nfgenmsg } from './nfgenmsg.ts';

/** NFTA_HOOK_*; what `number` means depends on the family. */
const hookAttrs = attrs('NFTA_HOOK', {
  number: attr(1, u32be),
  priority: attr(2, i32be),
  device: attr(3, cstring),
  devices: attr(4, attrs('NFTA_DEVICE', { name: many(1, cstring) })),
});

/** A chain: NFT_MSG_NEWCHAIN, GETCHAIN, DELCHAIN. */
export const chainMessage = headed(
  nfgenmsg,
  attrs('NFTA_CHAIN', {
    table: attr(1, cstring),
    handle: attr(2, handleOf(u64be)),
    name: attr(3, cstring),
    userdata: attr(12, rest),
    type: attr(7, cstring),
    policy: attr(5, oneOf(u32be, { drop: 0, accept: 1 })),
    hook: attr(4, hookAttrs),
    use: attr(6, u32be),
    flags: attr(10, u32be),
    id: attr(11, u32be),
  }),
);
