/** IFLA_VLAN_*, struct ifla_vlan_flags — linux/if_link.h; link kind "vlan" */
import { attr, attrs, oneOf, struct, u16, u16be, u32, type Value } from '@heddle/wire';

const vlanFlags = struct('ifla_vlan_flags', { flags: u32, mask: u32 });

/** Data of a VLAN interface. `protocol` is an Ethernet type, 802.1Q when left out. */
export const vlan = attrs('IFLA_VLAN', {
  id: attr(1, u16),
  flags: attr(2, vlanFlags),
  protocol: attr(5, oneOf(u16be, { '802.1q': 0x8100, '802.1ad': 0x88a8 })),
});

/** Data of a VLAN interface. */
export type VlanData = Omit<Value<typeof vlan>, 'unknown'>;
