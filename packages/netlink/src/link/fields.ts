/** struct ifinfomsg — linux/rtnetlink.h; IFLA_* — linux/if_link.h, those that any link has */
import { attr, attrs, cstring, i32, many, oneOf, pad, rest, struct, u8, u16, u32 } from '@heddle/wire';

/** struct ifinfomsg */
export const ifinfomsg = struct('ifinfomsg', {
  family: u8,
  pad: pad(1),
  type: u16,
  index: i32,
  flags: u32,
  change: u32,
});

/** IFF_* — linux/if.h */
export const IFF = { UP: 0x1, RUNNING: 0x40, PROMISC: 0x100, ALLMULTI: 0x200 } as const;

/** RTEXT_FILTER_*: what is wanted in an answer about links — linux/rtnetlink.h */
export const RTEXT_FILTER = { VF: 1, BRVLAN: 2, BRVLAN_COMPRESSED: 4, SKIP_STATS: 8 } as const;

/** IF_OPER_* — linux/if.h, RFC 2863 */
const operstate = oneOf(u8, {
  unknown: 0,
  notpresent: 1,
  down: 2,
  lowerlayerdown: 3,
  testing: 4,
  dormant: 5,
  up: 6,
});

/** IFLA_PROP_LIST holds IFLA_ALT_IFNAME, repeated. */
const propertyList = attrs('IFLA_PROP_LIST', { altNames: many(53, cstring) });

/** The attributes of a link but for IFLA_LINKINFO, which refers to them again for the other end of a veth. */
export const linkFields = {
  address: attr(1, rest),
  ifname: attr(3, cstring),
  mtu: attr(4, u32),
  link: attr(5, u32),
  master: attr(10, u32),
  txqlen: attr(13, u32),
  operstate: attr(16, operstate),
  ifalias: attr(20, cstring),
  group: attr(27, u32),
  netnsFd: attr(28, u32),
  extMask: attr(29, u32),
  promiscuity: attr(30, u32),
  txQueues: attr(31, u32),
  rxQueues: attr(32, u32),
  linkNetnsid: attr(37, i32),
  propertyList: attr(52, propertyList),
  altIfname: attr(53, cstring),
  parentDevice: attr(56, cstring),
} as const;
