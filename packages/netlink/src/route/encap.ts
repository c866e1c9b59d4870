/** RTA_ENCAP of tunnels whose device takes each packet's way from its route — linux/lwtunnel.h */
import type { Addr } from '@heddle/netaddr';
import { addr4, addr6, attr, attrs, choice, oneOf, u8, u16, u16be, u64be } from '@heddle/wire';

/** LWTUNNEL_ENCAP_* */
const encapType = oneOf(u16, { none: 0, mpls: 1, ip: 2, ila: 3, ip6: 4 });

/** LWTUNNEL_IP_* */
const ip = attrs('LWTUNNEL_IP', {
  id: attr(1, u64be),
  dst: attr(2, addr4),
  src: attr(3, addr4),
  ttl: attr(4, u8),
  tos: attr(5, u8),
  flags: attr(6, u16be),
});

/** LWTUNNEL_IP6_* */
const ip6 = attrs('LWTUNNEL_IP6', {
  id: attr(1, u64be),
  dst: attr(2, addr6),
  src: attr(3, addr6),
  hopLimit: attr(4, u8),
  trafficClass: attr(5, u8),
  flags: attr(6, u16be),
});

/** RTA_ENCAP, which RTA_ENCAP_TYPE says the kind of. */
export const encapFields = {
  encapType: attr(21, encapType),
  encap: choice(22, 'encapType', { ip, ip6 }),
} as const;

/** Where a route's packets travel inside others: for links that have `external` set. */
export interface RouteEncap {
  /** The VNI. */
  readonly id: number;
  readonly local: Addr;
  readonly remote: Addr;
  /** Of the outer packets; 64 when left out. */
  readonly ttl?: number;
}

/** TUNNEL_CSUM: the outer UDP checksum is filled in, which IPv6 receivers insist on. */
const CHECKSUM = 1;
const TTL = 64;

/** The attributes of an encapsulation. */
export function encapAttributes({ id, local, remote, ttl = TTL }: RouteEncap) {
  const common = { id: BigInt(id), dst: remote, src: local, flags: CHECKSUM };
  return remote.family === 4
    ? { encapType: 'ip' as const, encap: { ip: { ...common, ttl } } }
    : { encapType: 'ip6' as const, encap: { ip6: { ...common, hopLimit: ttl } } };
}

interface EncapMessage {
  readonly encap?: {
    readonly ip?: { readonly id?: bigint; readonly dst?: Addr; readonly src?: Addr; readonly ttl?: number };
    readonly ip6?: {
      readonly id?: bigint;
      readonly dst?: Addr;
      readonly src?: Addr;
      readonly hopLimit?: number;
    };
  };
}

/** The encapsulation that a message tells of; `undefined` for other kinds. */
export function encapOf({ encap }: EncapMessage): RouteEncap | undefined {
  const { id, dst, src } = encap?.ip ?? encap?.ip6 ?? {};
  const ttl = encap?.ip?.ttl ?? encap?.ip6?.hopLimit;
  if (id === undefined || dst === undefined || src === undefined) return undefined;
  return { id: Number(id), local: src, remote: dst, ...(ttl !== undefined && { ttl }) };
}
