/** IFLA_VRF_* — linux/if_link.h; link kind "vrf" */
import { attr, attrs, u32, type Value } from '@heddle/wire';

/** Data of a VRF: its routing table. */
export const vrf = attrs('IFLA_VRF', { table: attr(1, u32) });

/** Data of a VRF. */
export type VrfData = Omit<Value<typeof vrf>, 'unknown'>;
