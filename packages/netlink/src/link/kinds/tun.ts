/** IFLA_TUN_* — linux/if_link.h; link kind "tun", which covers tap devices too */
import { attr, attrs, bool, oneOf, u8, u32, type Value } from '@heddle/wire';

/** Data of a tun or tap device. Such devices are made by an ioctl, so this is only read. */
export const tun = attrs('IFLA_TUN', {
  owner: attr(1, u32),
  ownerGroup: attr(2, u32),
  type: attr(3, oneOf(u8, { tun: 1, tap: 2 })),
  packetInfo: attr(4, bool(u8)),
  vnetHeader: attr(5, bool(u8)),
  persistent: attr(6, bool(u8)),
  multiQueue: attr(7, bool(u8)),
  queues: attr(8, u32),
});

/** Data of a tun or tap device. */
export type TunData = Omit<Value<typeof tun>, 'unknown'>;
