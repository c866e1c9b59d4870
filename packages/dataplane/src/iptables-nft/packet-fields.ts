/**
 * What every rule of iptables can ask of a packet without an extension: addresses, links, the protocol. iptables-nft
 * compares them by expressions of nftables; these are the ones that all of its releases understand.
 */
import { Addr, Prefix } from '@heddle/netaddr';
import type { Expression } from '@heddle/netlink';
import { cstring, encode } from '@heddle/wire';
import { numberIn, type Option } from './extension.ts';

/** The options of this file, in the order in which iptables-nft compares them. */
export const PACKET_OPTIONS = ['i', 'o', 'p', 's', 'd'] as const;

/** An option of this file. */
export type PacketOption = (typeof PACKET_OPTIONS)[number];

/** The protocols that have names here. */
const PROTOCOLS: Readonly<Record<string, number>> = { icmp: 1, tcp: 6, udp: 17, 'ipv6-icmp': 58, sctp: 132 };

/** The number of a protocol by its name or digits. */
export function protocolNumber(text: string): number | undefined {
  return PROTOCOLS[text] ?? numberIn(text, 255);
}

/** The name of a protocol, or its number where it has none here. */
export function protocolName(number: number): string {
  return Object.keys(PROTOCOLS).find((name) => PROTOCOLS[name] === number) ?? String(number);
}

/** The expressions for an option; `undefined` when it cannot be written here. */
export function writeField(
  name: PacketOption,
  { negated, values }: Option,
  family: Addr['family'],
): readonly Expression[] | undefined {
  const [value] = values;
  if (value === undefined || values.length > 1) return undefined;
  const op = negated ? 'ne' : 'eq';
  switch (name) {
    case 'i':
    case 'o':
      return compareLink(name === 'i' ? 'iifname' : 'oifname', value, op);
    case 'p': {
      const number = protocolNumber(value);
      if (number === undefined) return undefined;
      return [{ expr: 'meta', key: 'l4proto', dreg: REGISTER }, compare(op, Uint8Array.of(number))];
    }
    case 's':
    case 'd':
      return compareAddress(ADDRESS_AT[family][name], value, op, family);
  }
}

/** A packet's field as expressions load it, with the value that it is compared to. */
export interface Compared {
  readonly load: Extract<Expression, { expr: 'payload' | 'meta' }>;
  readonly mask?: Uint8Array;
  readonly value: Uint8Array;
}

/** The option that such a comparison is, with its value; `undefined` for other fields. */
export function readField(
  { load, mask, value }: Compared,
  family: Addr['family'],
): readonly [PacketOption, string] | undefined {
  if (load.expr === 'meta') {
    if (load.key === 'iifname' || load.key === 'oifname') {
      return mask === undefined ? [load.key === 'iifname' ? 'i' : 'o', linkName(value)] : undefined;
    }
    const [number] = value;
    return load.key === 'l4proto' && number !== undefined ? ['p', protocolName(number)] : undefined;
  }
  if (load.base !== 'network') return undefined;
  if (family === 4 && load.offset === PROTOCOL_AT && load.length === 1) {
    return ['p', protocolName(value[0] ?? 0)];
  }
  const name = (['s', 'd'] as const).find((each) => ADDRESS_AT[family][each] === load.offset);
  const prefix = prefixOf(value, mask, load.length ?? 0, family);
  return name === undefined || prefix === undefined ? undefined : [name, String(prefix)];
}

/** NFT_REG_1 */
const REGISTER = 1;
/** Where an IPv4 header has its protocol. */
const PROTOCOL_AT = 9;
/** Where headers have their addresses. */
const ADDRESS_AT = { 4: { s: 12, d: 16 }, 6: { s: 8, d: 24 } } as const;
/** IFNAMSIZ, less the closing zero. */
const LINK_NAME_MAX = 15;

function compare(op: 'eq' | 'ne', value: Uint8Array): Expression {
  return { expr: 'cmp', sreg: REGISTER, op, data: { value } };
}

/** A name that ends in `+` stands for all that begin like it: the zero at the end is not compared. */
function compareLink(
  key: 'iifname' | 'oifname',
  name: string,
  op: 'eq' | 'ne',
): readonly Expression[] | undefined {
  if (name === '' || Buffer.byteLength(name) > LINK_NAME_MAX) return undefined;
  const isStart = name.endsWith('+');
  if (isStart && name.length === 1) return op === 'eq' ? [] : undefined;
  const value = isStart ? new TextEncoder().encode(name.slice(0, -1)) : encode(cstring, name);
  return [{ expr: 'meta', key, dreg: REGISTER }, compare(op, value)];
}

function linkName(value: Uint8Array): string {
  const end = value.indexOf(0);
  const text = new TextDecoder().decode(end < 0 ? value : value.subarray(0, end));
  return end < 0 ? `${text}+` : text;
}

function compareAddress(
  offset: number,
  text: string,
  op: 'eq' | 'ne',
  family: Addr['family'],
): readonly Expression[] | undefined {
  const addr = Addr.tryParse(text);
  const prefix = addr === undefined ? Prefix.tryParse(text) : Prefix.host(addr);
  if (prefix?.family !== family) return undefined;
  if (prefix.bits === 0) return op === 'eq' ? [] : undefined;
  const network = prefix.network.toBytes();
  const { length } = network;
  const mask: Expression = {
    expr: 'bitwise',
    ...{ sreg: REGISTER, dreg: REGISTER, length, op: 'mask' as const },
    ...{ mask: { value: prefix.mask().toBytes() }, xor: { value: new Uint8Array(length) } },
  };
  return [
    { expr: 'payload', dreg: REGISTER, base: 'network', offset, length },
    ...(prefix.isSingle ? [] : [mask]),
    compare(op, network),
  ];
}

/** The network of a comparison, which covers but some of the address's bytes, or has a mask. */
function prefixOf(
  value: Uint8Array,
  mask: Uint8Array | undefined,
  length: number,
  family: Addr['family'],
): Prefix | undefined {
  const size = family === 4 ? 4 : 16;
  if (value.length !== length || length > size || (mask !== undefined && length < size)) return undefined;
  const whole = new Uint8Array(size);
  whole.set(value);
  const addr = Addr.fromBytes(whole);
  if (mask === undefined) return Prefix.of(addr, length * 8);
  const bits = mask.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
  const prefix = Prefix.of(addr, bits);
  // A mask with gaps is no prefix.
  return Buffer.compare(prefix.mask().toBytes(), mask) === 0 ? prefix : undefined;
}
