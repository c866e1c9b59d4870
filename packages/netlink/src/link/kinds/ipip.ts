/** IFLA_IPTUN_* — linux/if_tunnel.h; link kind "ipip" */
import { addr4, attr, attrs, bool, flag, u8, u16, u32, type Value } from '@heddle/wire';

/** Data of an IP-in-IP tunnel. */
export const ipip = attrs('IFLA_IPTUN', {
  /** Index of the underlying link; 0 for any. */
  link: attr(1, u32),
  /** The source of encapsulated packets. */
  local: attr(2, addr4),
  /** Where packets go; the gateway of their route without. */
  remote: attr(3, addr4),
  ttl: attr(4, u8),
  tos: attr(5, u8),
  /** IPPROTO_* of what is inside: 4 for IPv4, 0 for all kinds. */
  protocol: attr(9, u8),
  /** Whether the outer packets must not be fragmented. */
  pmtuDiscovery: attr(10, bool(u8)),
  /** TUNNEL_ENCAP_*: foo-over-UDP and its like. */
  encapType: attr(15, u16),
  encapFlags: attr(16, u16),
  collectMetadata: attr(19, flag),
  forwardMark: attr(20, u32),
});

/** Data of an IP-in-IP tunnel: an end that is any address is absent. */
export type IpipData = Omit<Value<typeof ipip>, 'unknown'>;

/** A tunnel's data, without the addresses that say "any". */
export function ipipData(raw: IpipData): IpipData {
  const { local, remote, ...data } = raw;
  return {
    ...data,
    ...(local?.isUnspecified === false && { local }),
    ...(remote?.isUnspecified === false && { remote }),
  };
}
