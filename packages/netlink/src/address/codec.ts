/** struct ifaddrmsg, IFA_*, struct ifa_cacheinfo — linux/if_addr.h */
import { addr, attr, attrs, cstring, headed, struct, u8, u32, type Value } from '@heddle/wire';

/** struct ifaddrmsg */
const ifaddrmsg = struct('ifaddrmsg', { family: u8, prefixLength: u8, flags: u8, scope: u8, index: u32 });

/** struct ifa_cacheinfo: seconds, hundredths of a second since boot */
const cacheInfo = struct('ifa_cacheinfo', { preferred: u32, valid: u32, created: u32, updated: u32 });

/** A message about an address of a link, both ways. */
export const addressMessage = headed(
  ifaddrmsg,
  attrs('IFA', {
    address: attr(1, addr),
    local: attr(2, addr),
    label: attr(3, cstring),
    broadcast: attr(4, addr),
    cacheInfo: attr(6, cacheInfo),
    multicast: attr(7, addr),
    flags: attr(8, u32),
    metric: attr(9, u32),
    protocol: attr(11, u8),
  }),
);
/** An address as the kernel describes it. */
export type AddressMessage = Value<typeof addressMessage>;

/** IFA_F_* */
export const IFA_F = {
  SECONDARY: 0x1,
  NODAD: 0x2,
  OPTIMISTIC: 0x4,
  DADFAILED: 0x8,
  HOMEADDRESS: 0x10,
  DEPRECATED: 0x20,
  TENTATIVE: 0x40,
  PERMANENT: 0x80,
  NOPREFIXROUTE: 0x200,
} as const;

/** A lifetime without end. */
export const FOREVER = 0xffff_ffff;
