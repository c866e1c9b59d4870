/** IFLA_VXLAN_*, struct ifla_vxlan_port_range — linux/if_link.h; link kind "vxlan" */
import type { Addr } from '@heddle/netaddr';
import {
  addr4,
  addr6,
  attr,
  attrs,
  bool,
  type Codec,
  flag,
  type Input,
  struct,
  u8,
  u16be,
  u32,
  u32be,
  type Value,
} from '@heddle/wire';

/** IFLA_VXLAN_TTL_INHERIT: a byte in what the kernel says, but an attribute without payload in what it takes. */
const inheritance: Codec<boolean> = {
  name: 'flag',
  size: undefined,
  read: (window, start, end) => start === end || window.bytes[start] !== 0,
  // The kernel takes no "no"; it is left out of requests.
  write: (writer, value) => {
    if (!value) writer.reserve(1);
  },
};

/** Data of a VXLAN interface, as it is in messages: addresses have an attribute for either family. */
export const vxlan = attrs('IFLA_VXLAN', {
  id: attr(1, u32),
  remote4: attr(2, addr4),
  link: attr(3, u32),
  local4: attr(4, addr4),
  ttl: attr(5, u8),
  tos: attr(6, u8),
  learning: attr(7, bool(u8)),
  ageing: attr(8, u32),
  limit: attr(9, u32),
  portRange: attr(10, struct('ifla_vxlan_port_range', { low: u16be, high: u16be })),
  proxy: attr(11, bool(u8)),
  l2Miss: attr(13, bool(u8)),
  l3Miss: attr(14, bool(u8)),
  port: attr(15, u16be),
  remote6: attr(16, addr6),
  local6: attr(17, addr6),
  udpChecksum: attr(18, bool(u8)),
  zeroChecksum6Tx: attr(19, bool(u8)),
  zeroChecksum6Rx: attr(20, bool(u8)),
  groupPolicy: attr(23, flag),
  external: attr(25, bool(u8)),
  flowLabel: attr(26, u32be),
  ttlInherit: attr(28, inheritance),
  dontFragment: attr(29, u8),
  vniFilter: attr(30, bool(u8)),
});

type Split = 'remote4' | 'remote6' | 'local4' | 'local6';

/** Data of a VXLAN interface. */
export type VxlanData = Omit<Value<typeof vxlan>, Split | 'unknown'> & {
  /** Where packets for unknown MACs go: a host or a multicast group. */
  readonly remote?: Addr;
  /** The source of encapsulated packets. */
  readonly local?: Addr;
};

/** What a VXLAN interface is made from. */
export type VxlanSpec = Omit<Input<typeof vxlan>, Split | 'link' | 'unknown'> & {
  readonly remote?: Addr | undefined;
  readonly local?: Addr | undefined;
};

/** A VXLAN's data in one form for both families. */
export function vxlanData(raw: Omit<Value<typeof vxlan>, 'unknown'>): VxlanData {
  const { remote4, remote6, local4, local6, ...data } = raw;
  const remote = remote4 ?? remote6;
  const local = local4 ?? local6;
  return { ...data, ...(remote && { remote }), ...(local && { local }) };
}

/** The attributes of a VXLAN; `link` is the index of the underlying device. */
export function vxlanAttributes(spec: VxlanSpec, link: number | undefined): Input<typeof vxlan> {
  const { remote, local, ...data } = spec;
  return {
    ...data,
    // Its presence says yes.
    ttlInherit: data.ttlInherit || undefined,
    link,
    ...(remote && { [`remote${remote.family}`]: remote }),
    ...(local && { [`local${local.family}`]: local }),
  };
}
