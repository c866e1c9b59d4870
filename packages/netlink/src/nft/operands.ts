/**
 * What a packet is matched by: header fields, what the kernel knows about the packet, its connection.
 *
 * An operand says what must hold before it can be read (`tcp.dport` needs a TCP packet); the compiler writes
 * that match where the rule does not have it yet, as `nft` does.
 */
import type { Expression } from './codec/expressions.ts';
import type { KeyType } from './key-types.ts';

type Source<N> = Omit<Extract<Expression, { expr: N }>, 'dreg' | 'sreg' | 'unknown'>;

/** Where a field is read from: an expression without its destination. */
type Load = Source<'payload'> | Source<'meta'> | Source<'ct'> | Source<'fib'> | Source<'numgen'>;

/** A protocol that a packet must be of. */
export type Need =
  | { readonly layer: 'link'; readonly protocol: 'ether' }
  | { readonly layer: 'network'; readonly protocol: 'ip' | 'ip6' | 'arp' }
  | { readonly layer: 'transport'; readonly protocol: number };

/** One value of a packet. */
export interface Field {
  readonly kind: 'field';
  /** As `nft` writes it. */
  readonly text: string;
  readonly type: KeyType;
  readonly load: Load;
  readonly needs: readonly Need[];
}

/** Some bits of a field; the others read as zero. */
export interface Masked {
  readonly kind: 'masked';
  readonly field: Field;
  readonly mask: number;
}

/** Several fields as one key. */
export interface Concat {
  readonly kind: 'concat';
  readonly fields: readonly Field[];
}

/** The left side of a match, the key of a lookup. */
export type Operand = Field | Masked | Concat;

/**
 * Several fields as one key, to match against tuples.
 *
 * @example match(concat(ip.daddr, tcp.dport), 'in', setRef('published'))
 */
export function concat(...fields: readonly Field[]): Concat {
  return { kind: 'concat', fields };
}

/**
 * Some bits of a field.
 *
 * @example match(masked(meta.mark, 0x400), 'eq', 0x400)
 */
export function masked(field: Field, mask: number): Masked {
  return { kind: 'masked', field, mask };
}

const isIp: Need = { layer: 'network', protocol: 'ip' };
const isIp6: Need = { layer: 'network', protocol: 'ip6' };
const isArp: Need = { layer: 'network', protocol: 'arp' };
const isEther: Need = { layer: 'link', protocol: 'ether' };

/** Fields of the Ethernet header. */
export const ether = {
  daddr: payload('ether daddr', 'ether_addr', 'link', 0, 6, [isEther]),
  saddr: payload('ether saddr', 'ether_addr', 'link', 6, 6, [isEther]),
  type: payload('ether type', 'ether_type', 'link', 12, 2, [isEther]),
} as const;

/** Fields of the ARP header, for IPv4 over Ethernet. */
export const arp = {
  operation: payload('arp operation', { number: 11, length: 2 }, 'network', 6, 2, [isArp]),
  senderMac: payload('arp saddr ether', 'ether_addr', 'network', 8, 6, [isArp]),
  senderIp: payload('arp saddr ip', 'ipv4_addr', 'network', 14, 4, [isArp]),
  targetMac: payload('arp daddr ether', 'ether_addr', 'network', 18, 6, [isArp]),
  targetIp: payload('arp daddr ip', 'ipv4_addr', 'network', 24, 4, [isArp]),
} as const;

/** Fields of the IPv4 header. */
export const ip = {
  protocol: payload('ip protocol', 'inet_proto', 'network', 9, 1, [isIp]),
  saddr: payload('ip saddr', 'ipv4_addr', 'network', 12, 4, [isIp]),
  daddr: payload('ip daddr', 'ipv4_addr', 'network', 16, 4, [isIp]),
} as const;

/** Fields of the IPv6 header. The upper protocol is `meta.l4proto`: other headers may lie between. */
export const ip6 = {
  saddr: payload('ip6 saddr', 'ipv6_addr', 'network', 8, 16, [isIp6]),
  daddr: payload('ip6 daddr', 'ipv6_addr', 'network', 24, 16, [isIp6]),
} as const;

/** Fields of the TCP header. */
export const tcp = ports('tcp', [{ layer: 'transport', protocol: 6 }]);
/** Fields of the UDP header. */
export const udp = ports('udp', [{ layer: 'transport', protocol: 17 }]);
/** Fields of the SCTP header. */
export const sctp = ports('sctp', [{ layer: 'transport', protocol: 132 }]);
/** The ports of whichever transport protocol it is; match `meta.l4proto` first. */
export const th = ports('th', []);

/** Fields of the ICMP header. */
export const icmp = {
  type: payload('icmp type', 'icmp_type', 'transport', 0, 1, [isIp, { layer: 'transport', protocol: 1 }]),
} as const;
/** Fields of the ICMPv6 header. */
export const icmpv6 = {
  type: payload('icmpv6 type', 'icmpv6_type', 'transport', 0, 1, [
    isIp6,
    { layer: 'transport', protocol: 58 },
  ]),
} as const;

/** What the kernel knows about the packet. */
export const meta = {
  iifname: metaField('iifname', 'ifname'),
  oifname: metaField('oifname', 'ifname'),
  iif: metaField('iif', 'ifindex'),
  oif: metaField('oif', 'ifindex'),
  iifgroup: metaField('iifgroup', 'devgroup'),
  oifgroup: metaField('oifgroup', 'devgroup'),
  /** The upper protocol, past any extension headers. */
  l4proto: metaField('l4proto', 'inet_proto'),
  /** The family that the packet is handled as. */
  nfproto: metaField('nfproto', 'nf_proto'),
  /** The protocol that the link carries. */
  protocol: metaField('protocol', 'ether_type'),
  mark: metaField('mark', 'mark'),
  pkttype: metaField('pkttype', 'pkt_type'),
  skuid: metaField('skuid', 'uid'),
  skgid: metaField('skgid', 'gid'),
} as const;

/** What connection tracking knows about the packet. */
export const ct = {
  state: ctField('state', 'ct_state'),
  status: ctField('status', 'ct_status'),
  mark: ctField('mark', 'mark'),
  direction: ctField('direction', 'ct_dir'),
  /** The addresses and ports with which the connection began. */
  original: {
    saddr: ctField('src-ip', 'ipv4_addr', 0, 'ct original ip saddr'),
    daddr: ctField('dst-ip', 'ipv4_addr', 0, 'ct original ip daddr'),
    saddr6: ctField('src-ip6', 'ipv6_addr', 0, 'ct original ip6 saddr'),
    daddr6: ctField('dst-ip6', 'ipv6_addr', 0, 'ct original ip6 daddr'),
    sport: ctField('proto-src', 'inet_service', 0, 'ct original proto-src'),
    dport: ctField('proto-dst', 'inet_service', 0, 'ct original proto-dst'),
  },
  /** The addresses and ports of the answers. */
  reply: {
    saddr: ctField('src-ip', 'ipv4_addr', 1, 'ct reply ip saddr'),
    daddr: ctField('dst-ip', 'ipv4_addr', 1, 'ct reply ip daddr'),
    saddr6: ctField('src-ip6', 'ipv6_addr', 1, 'ct reply ip6 saddr'),
    daddr6: ctField('dst-ip6', 'ipv6_addr', 1, 'ct reply ip6 daddr'),
    sport: ctField('proto-src', 'inet_service', 1, 'ct reply proto-src'),
    dport: ctField('proto-dst', 'inet_service', 1, 'ct reply proto-dst'),
  },
} as const;

/** By what a route is looked up, for {@link fib}. */
export type FibKey = keyof typeof FIB_FLAGS;

/**
 * What a look-up in the routing tables gives.
 *
 * @example match(fib({ by: ['daddr'], result: 'type' }), 'eq', 'local')
 */
export function fib(query: {
  readonly by: readonly FibKey[];
  readonly result: 'type' | 'oif' | 'oifname';
}): Field {
  const { by, result } = query;
  const type = { type: 'fib_addrtype', oif: 'ifindex', oifname: 'ifname' } as const;
  const flags = by.reduce((sum, key) => sum | FIB_FLAGS[key], 0);
  const text = `fib ${by.join(' . ')} ${result}`;
  return { kind: 'field', text, type: type[result], load: { expr: 'fib', flags, result }, needs: [] };
}

/** NFTA_FIB_F_* */
const FIB_FLAGS = { saddr: 1, daddr: 2, mark: 4, iif: 8, oif: 16 } as const;

function payload(
  text: string,
  type: KeyType,
  base: 'link' | 'network' | 'transport',
  offset: number,
  length: number,
  needs: readonly Need[],
): Field {
  return { kind: 'field', text, type, load: { expr: 'payload', base, offset, length }, needs };
}

function ports(name: string, needs: readonly Need[]) {
  return {
    sport: payload(`${name} sport`, 'inet_service', 'transport', 0, 2, needs),
    dport: payload(`${name} dport`, 'inet_service', 'transport', 2, 2, needs),
  } as const;
}

type MetaKey = Extract<Source<'meta'>['key'], string>;
type CtKey = Extract<Source<'ct'>['key'], string>;

function metaField(key: MetaKey, type: KeyType): Field {
  return { kind: 'field', text: `meta ${key}`, type, load: { expr: 'meta', key }, needs: [] };
}

function ctField(key: CtKey, type: KeyType, direction?: 0 | 1, text = `ct ${key}`): Field {
  const load =
    direction === undefined ? ({ expr: 'ct', key } as const) : ({ expr: 'ct', key, direction } as const);
  return { kind: 'field', text, type, load, needs: [] };
}
