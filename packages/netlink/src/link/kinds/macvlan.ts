/** IFLA_MACVLAN_*, enum macvlan_mode — linux/if_link.h; link kinds "macvlan" and "macvtap" */
import { attr, attrs, oneOf, u16, u32, type Value } from '@heddle/wire';

/** Data of a macvlan interface. */
export const macvlan = attrs('IFLA_MACVLAN', {
  mode: attr(1, oneOf(u32, { private: 1, vepa: 2, bridge: 4, passthru: 8, source: 16 })),
  flags: attr(2, u16),
  broadcastQueueLength: attr(7, u32),
});

/** Data of a macvlan interface. */
export type MacvlanData = Omit<Value<typeof macvlan>, 'unknown'>;
