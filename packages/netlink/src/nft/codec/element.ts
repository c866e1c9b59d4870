/** NFTA_SET_ELEM_*, NFTA_SET_ELEM_LIST_* — linux/netfilter/nf_tables.h */
import {
  attr,
  attrs,
  cstring,
  headed,
  type Input,
  indexed,
  rest,
  u32be,
  u64be,
  type Value,
} from '@heddle/wire';
import { data } from './data.ts';
import { nested } from './expression-list.ts';
import { statefulExpression, statefulExpressions } from './expressions.ts';
import { nfgenmsg } from './nfgenmsg.ts';

/** NFT_SET_ELEM_* */
export const NFT_SET_ELEM = { INTERVAL_END: 1, CATCHALL: 2 } as const;

/** NFTA_SET_ELEM_*; times in milliseconds. */
const elementAttrs = attrs('NFTA_SET_ELEM', {
  flags: attr(3, u32be),
  timeout: attr(4, u64be),
  expiration: attr(5, u64be),
  key: attr(1, data),
  keyEnd: attr(10, data),
  data: attr(2, data),
  object: attr(9, cstring),
  userdata: attr(6, rest),
  expression: nested(attr(7, statefulExpression)),
  expressions: nested(attr(11, statefulExpressions)),
});

/** An element as the kernel lists it. */
export type WireElement = Value<typeof elementAttrs>;
/** An element as it is sent. */
export type WireElementInput = Input<typeof elementAttrs>;

/** The elements of a message, numbered as `nft` does; the kernel itself gives all of them the number 1. */
export const elementList = indexed(elementAttrs);

/** Elements of a set: NFT_MSG_NEWSETELEM, GETSETELEM, DELSETELEM. `elements` comes last. */
export const elementsMessage = headed(
  nfgenmsg,
  attrs('NFTA_SET_ELEM_LIST', {
    table: attr(1, cstring),
    set: attr(2, cstring),
    setId: attr(4, u32be),
    elements: attr(3, elementList),
  }),
);
