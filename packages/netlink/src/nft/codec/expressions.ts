/**
 * The expressions that rules are made of: NFTA_EXPR_* and, by name, the attributes of each — linux/netfilter/nf_tables.h.
 *
 * Attributes are declared in the order in which `nft` writes them. An expression that is not declared here
 * keeps its attributes as bytes.
 */
import { attr, attrs, cstring, oneOf, rest, u8, u16be, u32be, u64be } from '@heddle/wire';
import { data } from './data.ts';
import { listOf, nested, type OneOf, oneExpression } from './expression-list.ts';
import { ctKey, metaKey } from './packet-keys.ts';

const register = u32be;
const fibResult = oneOf(u32be, { oif: 1, oifname: 2, type: 3 });
const cmpOp = oneOf(u32be, { eq: 0, ne: 1, lt: 2, le: 3, gt: 4, ge: 5 });

const bitwiseOp = oneOf(u32be, { mask: 0, lshift: 1, rshift: 2 });
const payloadBase = oneOf(u32be, { link: 0, network: 1, transport: 2, inner: 3 });
const natType = oneOf(u32be, { snat: 0, dnat: 1 });
const natFamily = oneOf(u32be, { ip: 2, ip6: 10 });
const rejectType = oneOf(u32be, { icmp: 0, 'tcp-reset': 1, icmpx: 2 });
const limitType = oneOf(u32be, { packets: 0, bytes: 1 });
const dynsetOp = oneOf(u32be, { add: 0, update: 1, delete: 2 });
const byteorderOp = oneOf(u32be, { ntoh: 0, hton: 1 });

/** Expressions that hold state, which elements of sets may carry. */
const STATEFUL = {
  /** NFTA_COUNTER_* */
  counter: attrs('NFTA_COUNTER', { bytes: attr(1, u64be), packets: attr(2, u64be) }),
  /** NFTA_LIMIT_*; `unit` in seconds */
  limit: attrs('NFTA_LIMIT', {
    rate: attr(1, u64be),
    unit: attr(2, u64be),
    burst: attr(3, u32be),
    type: attr(4, limitType),
    flags: attr(5, u32be),
  }),
  /** NFTA_QUOTA_* */
  quota: attrs('NFTA_QUOTA', { bytes: attr(1, u64be), consumed: attr(4, u64be), flags: attr(2, u32be) }),
  /** NFTA_CONNLIMIT_* */
  connlimit: attrs('NFTA_CONNLIMIT', { count: attr(1, u32be), flags: attr(2, u32be) }),
  /** NFTA_LAST_* */
  last: attrs('NFTA_LAST', { set: attr(1, u32be), milliseconds: attr(2, u64be) }),
} as const;

/** An expression that holds state, such as a counter. */
export type StatefulExpression = OneOf<typeof STATEFUL>;
/** One stateful expression. */
export const statefulExpression = oneExpression<typeof STATEFUL, StatefulExpression>(STATEFUL);
/** A list of stateful expressions. */
export const statefulExpressions = listOf<typeof STATEFUL, StatefulExpression>(STATEFUL);

const EXPRESSIONS = {
  ...STATEFUL,
  /** NFTA_IMMEDIATE_* */
  immediate: attrs('NFTA_IMMEDIATE', { dreg: attr(1, register), data: attr(2, data) }),
  /** NFTA_CMP_* */
  cmp: attrs('NFTA_CMP', { sreg: attr(1, register), op: attr(2, cmpOp), data: attr(3, data) }),
  /** NFTA_RANGE_* */
  range: attrs('NFTA_RANGE', {
    sreg: attr(1, register),
    op: attr(2, oneOf(u32be, { eq: 0, ne: 1 })),
    from: attr(3, data),
    to: attr(4, data),
  }),
  /** NFTA_BITWISE_*: dreg = (sreg & mask) ^ xor */
  bitwise: attrs('NFTA_BITWISE', {
    sreg: attr(1, register),
    dreg: attr(2, register),
    op: attr(6, bitwiseOp),
    length: attr(3, u32be),
    mask: attr(4, data),
    xor: attr(5, data),
    data: attr(7, data),
  }),
  /** NFTA_BYTEORDER_* */
  byteorder: attrs('NFTA_BYTEORDER', {
    sreg: attr(1, register),
    dreg: attr(2, register),
    op: attr(3, byteorderOp),
    length: attr(4, u32be),
    size: attr(5, u32be),
  }),
  /** NFTA_PAYLOAD_* */
  payload: attrs('NFTA_PAYLOAD', {
    sreg: attr(5, register),
    dreg: attr(1, register),
    base: attr(2, payloadBase),
    offset: attr(3, u32be),
    length: attr(4, u32be),
    checksumType: attr(6, u32be),
    checksumOffset: attr(7, u32be),
    checksumFlags: attr(8, u32be),
  }),
  /** NFTA_EXTHDR_* */
  exthdr: attrs('NFTA_EXTHDR', {
    sreg: attr(7, register),
    dreg: attr(1, register),
    type: attr(2, u8),
    offset: attr(3, u32be),
    length: attr(4, u32be),
    op: attr(6, u32be),
    flags: attr(5, u32be),
  }),
  /** NFTA_META_* */
  meta: attrs('NFTA_META', { key: attr(2, metaKey), dreg: attr(1, register), sreg: attr(3, register) }),
  /** NFTA_CT_* */
  ct: attrs('NFTA_CT', {
    key: attr(2, ctKey),
    dreg: attr(1, register),
    direction: attr(3, u8),
    sreg: attr(4, register),
  }),
  /** NFTA_RT_* */
  rt: attrs('NFTA_RT', { key: attr(2, u32be), dreg: attr(1, register) }),
  /** NFTA_SOCKET_* */
  socket: attrs('NFTA_SOCKET', { key: attr(1, u32be), dreg: attr(2, register), level: attr(3, u32be) }),
  /** NFTA_FIB_*; `flags` of NFTA_FIB_F_* */
  fib: attrs('NFTA_FIB', { flags: attr(3, u32be), result: attr(2, fibResult), dreg: attr(1, register) }),
  /** NFTA_HASH_* */
  hash: attrs('NFTA_HASH', {
    sreg: attr(1, register),
    dreg: attr(2, register),
    length: attr(3, u32be),
    modulus: attr(4, u32be),
    seed: attr(5, u32be),
    offset: attr(6, u32be),
    type: attr(7, u32be),
  }),
  /** NFTA_NG_* */
  numgen: attrs('NFTA_NG', {
    dreg: attr(1, register),
    modulus: attr(2, u32be),
    type: attr(3, oneOf(u32be, { inc: 0, random: 1 })),
    offset: attr(4, u32be),
  }),
  /** NFTA_LOOKUP_*; `flags` 1 inverts */
  lookup: attrs('NFTA_LOOKUP', {
    sreg: attr(2, register),
    dreg: attr(3, register),
    set: attr(1, cstring),
    setId: attr(4, u32be),
    flags: attr(5, u32be),
  }),
  /** NFTA_DYNSET_* */
  dynset: attrs('NFTA_DYNSET', {
    sregKey: attr(4, register),
    sregData: attr(5, register),
    op: attr(3, dynsetOp),
    timeout: attr(6, u64be),
    set: attr(1, cstring),
    setId: attr(2, u32be),
    expression: nested(attr(7, statefulExpression)),
    expressions: nested(attr(10, statefulExpressions)),
    flags: attr(9, u32be),
  }),
  /** NFTA_OBJREF_*: a named object, or one found in a map */
  objref: attrs('NFTA_OBJREF', {
    type: attr(1, u32be),
    object: attr(2, cstring),
    sreg: attr(3, register),
    set: attr(4, cstring),
    setId: attr(5, u32be),
  }),
  /** NFTA_NAT_*; `flags` of NF_NAT_RANGE_* */
  nat: attrs('NFTA_NAT', {
    type: attr(1, natType),
    family: attr(2, natFamily),
    addrMin: attr(3, register),
    addrMax: attr(4, register),
    portMin: attr(5, register),
    portMax: attr(6, register),
    flags: attr(7, u32be),
  }),
  /** NFTA_MASQ_* */
  masq: attrs('NFTA_MASQ', {
    flags: attr(1, u32be),
    portMin: attr(2, register),
    portMax: attr(3, register),
  }),
  /** NFTA_REDIR_* */
  redir: attrs('NFTA_REDIR', {
    portMin: attr(1, register),
    portMax: attr(2, register),
    flags: attr(3, u32be),
  }),
  /** NFTA_REJECT_* */
  reject: attrs('NFTA_REJECT', { type: attr(1, rejectType), code: attr(2, u8) }),
  /** NFTA_LOG_* */
  log: attrs('NFTA_LOG', {
    prefix: attr(2, cstring),
    group: attr(1, u16be),
    snaplen: attr(3, u32be),
    queueThreshold: attr(4, u16be),
    level: attr(5, u32be),
    flags: attr(6, u32be),
  }),
  /** NFTA_QUEUE_* */
  queue: attrs('NFTA_QUEUE', {
    number: attr(1, u16be),
    total: attr(2, u16be),
    flags: attr(3, u16be),
    sreg: attr(4, register),
  }),
  /** NFTA_DUP_* */
  dup: attrs('NFTA_DUP', { sregAddr: attr(1, register), sregDev: attr(2, register) }),
  /** NFTA_FWD_* */
  fwd: attrs('NFTA_FWD', {
    sregDev: attr(1, register),
    sregAddr: attr(2, register),
    family: attr(3, u32be),
  }),
  /** NFTA_TPROXY_* */
  tproxy: attrs('NFTA_TPROXY', {
    family: attr(1, u32be),
    addr: attr(2, register),
    port: attr(3, register),
  }),
  notrack: attrs('notrack', {}),
  /** NFTA_MATCH_*: an iptables match; `info` is the extension's own struct */
  match: attrs('NFTA_MATCH', { extension: attr(1, cstring), revision: attr(2, u32be), info: attr(3, rest) }),
  /** NFTA_TARGET_*: an iptables target */
  target: attrs('NFTA_TARGET', {
    extension: attr(1, cstring),
    revision: attr(2, u32be),
    info: attr(3, rest),
  }),
} as const;

/**
 * An expression as the kernel knows it: `expr` names it, the other members are its attributes.
 *
 * @example { expr: 'cmp', sreg: 1, op: 'eq', data: { value: Uint8Array.of(6) } }
 */
export type Expression = OneOf<typeof EXPRESSIONS>;
/** The expressions of a rule. */
export const expressions = listOf<typeof EXPRESSIONS, Expression>(EXPRESSIONS);
