/** NFTA_SET_* — linux/netfilter/nf_tables.h, enum nft_set_attributes */
import { attr, attrs, cstring, elements, headed, rest, u32be, u64be } from '@heddle/wire';
import { handleOf } from './data.ts';
import { LIST_ELEM, nested } from './expression-list.ts';
import { statefulExpression, statefulExpressions } from './expressions.ts';
import { nfgenmsg } from './nfgenmsg.ts';

/** NFT_SET_*: flags of a set. */
export const NFT_SET = {
  ANONYMOUS: 0x1,
  CONSTANT: 0x2,
  INTERVAL: 0x4,
  MAP: 0x8,
  TIMEOUT: 0x10,
  EVAL: 0x20,
  OBJECT: 0x40,
  CONCAT: 0x80,
} as const;

/** NFT_DATA_VERDICT: the data type of a verdict map. */
export const NFT_DATA_VERDICT = 0xffff_ff00;

/** NFT_OBJECT_COUNTER: the type of a named counter. */
export const NFT_OBJECT_COUNTER = 1;

/** NFTA_SET_DESC_*; `fields` are the lengths of a concatenation's components in bytes. */
const setDescription = attrs('NFTA_SET_DESC', {
  size: attr(1, u32be),
  fields: attr(2, elements(LIST_ELEM, attrs('NFTA_SET_FIELD', { length: attr(1, u32be) }))),
});

/** A set or map: NFT_MSG_NEWSET, GETSET, DELSET. */
export const setMessage = headed(
  nfgenmsg,
  attrs('NFTA_SET', {
    table: attr(1, cstring),
    name: attr(2, cstring),
    flags: attr(3, u32be),
    keyType: attr(4, u32be),
    keyLength: attr(5, u32be),
    dataType: attr(6, u32be),
    dataLength: attr(7, u32be),
    objectType: attr(15, u32be),
    policy: attr(8, u32be),
    id: attr(10, u32be),
    description: attr(9, setDescription),
    timeout: attr(11, u64be),
    gcInterval: attr(12, u32be),
    userdata: attr(13, rest),
    handle: attr(16, handleOf(u64be)),
    /** The implementation's symbol, and how many elements there are; since Linux 6.17. */
    type: attr(19, cstring),
    count: attr(20, u32be),
    expression: nested(attr(17, statefulExpression)),
    expressions: nested(attr(18, statefulExpressions)),
  }),
);
