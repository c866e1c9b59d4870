/** IFLA_IPVLAN_*, enum ipvlan_mode — linux/if_link.h; link kind "ipvlan" */
import { attr, attrs, oneOf, u16, type Value } from '@heddle/wire';

/** Data of an ipvlan interface. `flags`: IPVLAN_F_PRIVATE 1, IPVLAN_F_VEPA 2. */
export const ipvlan = attrs('IFLA_IPVLAN', {
  mode: attr(1, oneOf(u16, { l2: 0, l3: 1, l3s: 2 })),
  flags: attr(2, u16),
});

/** Data of an ipvlan interface. */
export type IpvlanData = Omit<Value<typeof ipvlan>, 'unknown'>;
