/** AF_BRIDGE messages about links: IFLA_BRIDGE_*, struct bridge_vlan_info — linux/if_bridge.h */
import { attr, attrs, cstring, headed, many, struct, u16, u32, type Value } from '@heddle/wire';
import { ifinfomsg } from '../link/fields.ts';
import { brport } from './port-codec.ts';

/** struct bridge_vlan_info */
const vlanInfo = struct('bridge_vlan_info', { flags: u16, id: u16 });

/** IFLA_BRIDGE_* */
const bridgeSpec = attrs('IFLA_BRIDGE', { flags: attr(0, u16), vlans: many(2, vlanInfo) });

/** A message about a bridge's port or VLANs, both ways. */
export const bridgeMessage = headed(
  ifinfomsg,
  attrs('IFLA', {
    ifname: attr(3, cstring),
    master: attr(10, u32),
    port: attr(12, brport),
    spec: attr(26, bridgeSpec),
    extMask: attr(29, u32),
  }),
);
/** A port as its bridge describes it. */
export type BridgeMessage = Value<typeof bridgeMessage>;

/** BRIDGE_FLAGS_*: whether the bridge or the link itself is meant. */
export const BRIDGE_FLAGS = { MASTER: 1, SELF: 2 } as const;
/** BRIDGE_VLAN_INFO_* */
export const BRIDGE_VLAN_INFO = { PVID: 0x2, UNTAGGED: 0x4, RANGE_BEGIN: 0x8, RANGE_END: 0x10 } as const;
