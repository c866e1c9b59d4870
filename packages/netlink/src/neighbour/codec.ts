/** struct ndmsg, NDA_*, NUD_*, NTF_* — linux/neighbour.h; serves neighbours and bridge forwarding entries */
import {
  addr,
  attr,
  attrs,
  headed,
  i32,
  pad,
  rest,
  struct,
  u8,
  u16,
  u16be,
  u32,
  type Value,
} from '@heddle/wire';

/** struct ndmsg */
const ndmsg = struct('ndmsg', { family: u8, pad: pad(3), index: i32, state: u16, flags: u8, type: u8 });

/** struct nda_cacheinfo: hundredths of a second ago */
const cacheInfo = struct('nda_cacheinfo', { confirmed: u32, used: u32, updated: u32, references: u32 });

/** A message about a neighbour or a forwarding entry, both ways. */
export const neighbourMessage = headed(
  ndmsg,
  attrs('NDA', {
    dst: attr(1, addr),
    linkAddress: attr(2, rest),
    cacheInfo: attr(3, cacheInfo),
    probes: attr(4, u32),
    vlan: attr(5, u16),
    port: attr(6, u16be),
    vni: attr(7, u32),
    ifindex: attr(8, u32),
    master: attr(9, u32),
    sourceVni: attr(11, u32),
    protocol: attr(12, u8),
    nexthopId: attr(13, u32),
    extendedFlags: attr(15, u32),
  }),
);
/** A neighbour or forwarding entry as the kernel describes it. */
export type NeighbourMessage = Value<typeof neighbourMessage>;

/** NUD_* */
export const NUD = {
  INCOMPLETE: 0x01,
  REACHABLE: 0x02,
  STALE: 0x04,
  DELAY: 0x08,
  PROBE: 0x10,
  FAILED: 0x20,
  NOARP: 0x40,
  PERMANENT: 0x80,
} as const;

/** NTF_* */
export const NTF = {
  USE: 0x01,
  SELF: 0x02,
  MASTER: 0x04,
  PROXY: 0x08,
  EXT_LEARNED: 0x10,
  STICKY: 0x40,
  ROUTER: 0x80,
} as const;
