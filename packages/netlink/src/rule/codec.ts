/** struct fib_rule_hdr, FRA_*, FR_ACT_* — linux/fib_rules.h */
import {
  addr,
  attr,
  attrs,
  bool,
  cstring,
  headed,
  oneOf,
  pad,
  struct,
  u8,
  u16,
  u32,
  u64be,
  type Value,
} from '@heddle/wire';

/** FR_ACT_* */
const action = oneOf(u8, { table: 1, goto: 2, nop: 3, blackhole: 6, unreachable: 7, prohibit: 8 });

/** struct fib_rule_hdr */
const ruleHeader = struct('fib_rule_hdr', {
  family: u8,
  dstLength: u8,
  srcLength: u8,
  tos: u8,
  table: u8,
  pad: pad(2),
  action,
  flags: u32,
});

/** struct fib_rule_port_range */
const portRange = struct('fib_rule_port_range', { start: u16, end: u16 });
/** struct fib_rule_uid_range */
const uidRange = struct('fib_rule_uid_range', { start: u32, end: u32 });

/** A message about a rule, both ways. */
export const ruleMessage = headed(
  ruleHeader,
  attrs('FRA', {
    dst: attr(1, addr),
    src: attr(2, addr),
    iif: attr(3, cstring),
    goto: attr(4, u32),
    priority: attr(6, u32),
    fwmark: attr(10, u32),
    tunnelId: attr(12, u64be),
    suppressGroup: attr(13, u32),
    suppressPrefixLength: attr(14, u32),
    table: attr(15, u32),
    fwmask: attr(16, u32),
    oif: attr(17, cstring),
    l3mdev: attr(19, bool(u8)),
    uids: attr(20, uidRange),
    protocol: attr(21, u8),
    ipProtocol: attr(22, u8),
    sourcePorts: attr(23, portRange),
    destinationPorts: attr(24, portRange),
  }),
);
/** A rule as the kernel describes it. */
export type RuleMessage = Value<typeof ruleMessage>;

/** FIB_RULE_INVERT */
export const FIB_RULE_INVERT = 0x2;
/** No limit to the prefix length or group that a rule suppresses. */
export const SUPPRESS_NONE = 0xffff_ffff;
