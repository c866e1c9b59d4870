/** IFLA_BR_* — linux/if_link.h; link kind "bridge" */
import { attr, attrs, bool, mac, u8, u16, u16be, u32, type Value } from '@heddle/wire';

/** Data of a bridge. Times are in hundredths of a second. */
export const bridge = attrs('IFLA_BR', {
  forwardDelay: attr(1, u32),
  helloTime: attr(2, u32),
  maxAge: attr(3, u32),
  ageingTime: attr(4, u32),
  stp: attr(5, bool(u32)),
  priority: attr(6, u16),
  vlanFiltering: attr(7, bool(u8)),
  vlanProtocol: attr(8, u16be),
  groupForwardMask: attr(9, u16),
  groupAddress: attr(20, mac),
  multicastRouter: attr(22, u8),
  multicastSnooping: attr(23, bool(u8)),
  multicastQuerier: attr(25, bool(u8)),
  callIptables: attr(36, bool(u8)),
  callIp6tables: attr(37, bool(u8)),
  callArptables: attr(38, bool(u8)),
  defaultVlan: attr(39, u16),
});

/** Data of a bridge. */
export type BridgeData = Omit<Value<typeof bridge>, 'unknown'>;
