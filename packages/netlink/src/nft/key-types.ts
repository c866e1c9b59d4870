/**
 * The types of keys and data: their numbers and byte orders as `nft` has them (its datatype.h), and their
 * values as bytes. The kernel itself knows only lengths.
 */
import { Addr, Mac } from '@heddle/netaddr';
import { cstring, decode, u8, u16be, u32, windowOf } from '@heddle/wire';
import { NftError } from './nft-error.ts';

/** A single value of a key. Protocols, states and verdict-like enumerations also have names. */
export type Scalar = Addr | Mac | number | string | Uint8Array;

/** The name of a type, as in `type ipv4_addr . inet_service`. */
export type TypeName = keyof typeof TYPES;

/** A type by its number in `nft` and its length in bytes, for those that have no name here. */
export interface OtherType {
  readonly number: number;
  readonly length: number;
}

/** The type of a key, of one component of a concatenation, or of a map's data. */
export type KeyType = TypeName | OtherType;

/** How values of a type are written. */
export interface TypeInfo {
  readonly name: string;
  readonly number: number;
  /** In bytes. */
  readonly length: number;
  /** What `nft` writes down beside a set; single bytes have none. */
  readonly order: 'network' | 'host' | 'none';
  /** Whether each bit has a meaning of its own. */
  readonly bits: boolean;
  encode(value: Scalar): Uint8Array;
  decode(bytes: Uint8Array): Scalar;
}

/** What is known of a type. */
export function typeInfo(type: KeyType): TypeInfo {
  return typeof type === 'string' ? TYPES[type] : opaque(type);
}

/** The type with this number, by name where it has one of this length. */
function typeOf(number: number, length: number): KeyType {
  for (const [name, info] of Object.entries(TYPES)) {
    if (info.number === number && info.length === length) return name as TypeName;
  }
  return { number, length };
}

/** The types of a concatenation: six bits each, the first one highest. */
export function typesOf(number: number, length: number): readonly KeyType[] {
  const numbers: number[] = [];
  for (let rest = number; rest > 0; rest = Math.floor(rest / 64)) numbers.unshift(rest % 64);
  const known = numbers.map((each) => Object.entries(TYPES).find(([, info]) => info.number === each));
  const total = known.reduce((sum, entry) => sum + padded(entry?.[1].length ?? 0), 0);
  if (numbers.length < 2 || known.includes(undefined) || total !== padded(length)) {
    return [typeOf(number, length)];
  }
  return known.map((entry) => entry?.[0] as TypeName);
}

/** The number of a concatenation. */
export function numberOf(types: readonly KeyType[]): number {
  return types.reduce((sum, type) => sum * 64 + typeInfo(type).number, 0);
}

/** A length rounded up to whole registers of four bytes. */
export function padded(length: number): number {
  return (length + 3) & ~3;
}

const PROTOCOLS = { icmp: 1, tcp: 6, udp: 17, 'ipv6-icmp': 58, sctp: 132 } as const;
const CT_STATES = { invalid: 1, established: 2, related: 4, new: 8, untracked: 64 } as const;
const CT_STATUS = {
  expected: 1,
  'seen-reply': 2,
  assured: 4,
  confirmed: 8,
  snat: 16,
  dnat: 32,
  dying: 512,
} as const;
const ETHER_TYPES = { ip: 0x0800, arp: 0x0806, vlan: 0x8100, ip6: 0x86dd } as const;
const NFPROTO = { ipv4: 2, ipv6: 10 } as const;
const FIB_TYPES = {
  unspec: 0,
  unicast: 1,
  local: 2,
  broadcast: 3,
  anycast: 4,
  multicast: 5,
  blackhole: 6,
  unreachable: 7,
  prohibit: 8,
} as const;
const PACKET_TYPES = { host: 0, broadcast: 1, multicast: 2, other: 3 } as const;
const ICMP_TYPES = {
  'echo-reply': 0,
  'destination-unreachable': 3,
  redirect: 5,
  'echo-request': 8,
  'time-exceeded': 11,
} as const;
const ICMPV6_TYPES = {
  'destination-unreachable': 1,
  'packet-too-big': 2,
  'time-exceeded': 3,
  'echo-request': 128,
  'echo-reply': 129,
  'nd-router-solicit': 133,
  'nd-router-advert': 134,
  'nd-neighbor-solicit': 135,
  'nd-neighbor-advert': 136,
} as const;
const DIRECTIONS = { original: 0, reply: 1 } as const;

const TYPES = {
  nf_proto: numeric('nf_proto', 2, 1, 'none', NFPROTO),
  ipv4_addr: address('ipv4_addr', 7, 4),
  ipv6_addr: address('ipv6_addr', 8, 6),
  ether_addr: etherAddress(),
  ether_type: numeric('ether_type', 10, 2, 'network', ETHER_TYPES),
  inet_proto: numeric('inet_proto', 12, 1, 'none', PROTOCOLS),
  inet_service: numeric('inet_service', 13, 2, 'network'),
  icmp_type: numeric('icmp_type', 14, 1, 'network', ICMP_TYPES),
  mark: numeric('mark', 19, 4, 'host'),
  ifindex: numeric('iface_index', 20, 4, 'host'),
  ct_state: { ...numeric('ct_state', 26, 4, 'host', CT_STATES), bits: true },
  ct_dir: numeric('ct_dir', 27, 1, 'none', DIRECTIONS),
  ct_status: { ...numeric('ct_status', 28, 4, 'host', CT_STATUS), bits: true },
  icmpv6_type: numeric('icmpv6_type', 29, 1, 'network', ICMPV6_TYPES),
  pkt_type: numeric('pkt_type', 31, 1, 'host', PACKET_TYPES),
  devgroup: numeric('devgroup', 35, 4, 'host'),
  uid: numeric('uid', 24, 4, 'host'),
  gid: numeric('gid', 25, 4, 'host'),
  fib_addrtype: numeric('fib_addrtype', 38, 4, 'host', FIB_TYPES),
  ifname: interfaceName(),
} satisfies Record<string, TypeInfo>;

function numeric(
  name: string,
  number: number,
  length: 1 | 2 | 4,
  order: TypeInfo['order'],
  names: Readonly<Record<string, number>> = {},
): TypeInfo {
  const codec = length === 1 ? u8 : length === 2 ? u16be : u32;
  const byNumber = new Map(Object.entries(names).map(([text, value]) => [value, text]));
  return {
    name,
    number,
    length,
    order,
    bits: false,
    encode(value) {
      const given = typeof value === 'string' && Object.hasOwn(names, value) ? names[value] : value;
      if (typeof given !== 'number' || !Number.isInteger(given) || given < 0 || given >= 2 ** (8 * length)) {
        throw mismatch(name, value, Object.keys(names));
      }
      const bytes = new Uint8Array(length);
      const { view } = windowOf(bytes);
      if (codec === u8) view.setUint8(0, given);
      else if (codec === u16be) view.setUint16(0, given);
      else new Uint32Array(bytes.buffer)[0] = given;
      return bytes;
    },
    decode(bytes) {
      const value = decode(codec, bytes);
      return byNumber.get(value) ?? value;
    },
  };
}

function address(name: string, number: number, family: 4 | 6): TypeInfo {
  const length = family === 4 ? 4 : 16;
  return {
    name,
    number,
    length,
    order: 'network',
    bits: false,
    encode(value) {
      const addr = typeof value === 'string' ? Addr.tryParse(value) : value;
      if (!(addr instanceof Addr) || addr.family !== family) throw mismatch(name, value);
      return addr.toBytes();
    },
    decode: (bytes) => Addr.fromBytes(bytes.subarray(0, length)),
  };
}

function etherAddress(): TypeInfo {
  const name = 'ether_addr';
  return {
    name,
    number: 9,
    length: 6,
    order: 'network',
    bits: false,
    encode(value) {
      const mac = typeof value === 'string' ? Mac.tryParse(value) : value;
      if (!(mac instanceof Mac)) throw mismatch(name, value);
      return mac.toBytes();
    },
    decode: (bytes) => Mac.fromBytes(bytes.subarray(0, 6)),
  };
}

function interfaceName(): TypeInfo {
  const name = 'ifname';
  return {
    name,
    number: 41,
    length: 16,
    order: 'host',
    bits: false,
    encode(value) {
      const text = typeof value === 'string' ? new TextEncoder().encode(value) : undefined;
      if (text === undefined || text.length === 0 || text.length > 15) throw mismatch(name, value);
      if (text.at(-1) === ASTERISK)
        throw new NftError(`${value}: a wildcard is matched by itself, not in sets`);
      const bytes = new Uint8Array(16);
      bytes.set(text);
      return bytes;
    },
    decode: (bytes) => decode(cstring, bytes),
  };
}

const ASTERISK = 0x2a;

function opaque({ number, length }: OtherType): TypeInfo {
  const name = `type ${number}`;
  return {
    name,
    number,
    length,
    order: 'network',
    bits: false,
    encode(value) {
      if (!(value instanceof Uint8Array) || value.length !== length) throw mismatch(name, value);
      return value;
    },
    decode: (bytes) => bytes.slice(0, length),
  };
}

function mismatch(type: string, value: Scalar, names: readonly string[] = []): NftError {
  const shown = value instanceof Uint8Array ? `${value.length} bytes` : String(value);
  const hint = names.length > 0 && typeof value === 'string' ? { hint: `names are ${names.join(', ')}` } : {};
  return new NftError(`${shown} is no ${type}`, hint);
}
