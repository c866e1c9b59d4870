/** Which route a packet takes: rules first, then the longest prefix of their tables — net/core/fib_rules.c, net/ipv4/fib_trie.c */
import { type Addr, Prefix } from '@heddle/netaddr';
import type { Family } from '../../core/family.ts';
import { familyOf } from '../../core/family.ts';
import { RT_SCOPE } from '../../route/codec.ts';
import { FIB_RULE_INVERT, SUPPRESS_NONE } from '../../rule/codec.ts';
import type { Namespace } from '../core/namespace.ts';
import type { RuleRecord } from '../rule/record.ts';
import type { HopRecord, RouteRecord } from './record.ts';

/** A packet, as far as routing looks at it. */
export interface Packet {
  readonly dst: Addr;
  readonly src?: Addr | undefined;
  readonly mark?: number | undefined;
  /** Index of the link that it came in by; the loopback for one that is sent here. */
  readonly iif?: number | undefined;
  /** Index of the link that it must leave by. */
  readonly oif?: number | undefined;
  /** Routes of wider scope than this are passed over. */
  readonly scope?: number | undefined;
}

/** What a lookup comes to: a route and its way, or why there is none. */
export type Found =
  | { readonly route: RouteRecord; readonly hop: HopRecord; readonly errno?: undefined }
  | { readonly errno: string; readonly route?: undefined };

/** Looks a packet up by the rules. */
export function lookup(namespace: Namespace, packet: Packet): Found {
  for (const rule of namespace.rules) {
    if (familyOf(rule.family) !== packet.dst.family || !matchesRule(namespace, rule, packet)) continue;
    switch (rule.action) {
      case 'table': {
        const table = rule.attributes.table ?? rule.table;
        const found = lookupTable(namespace, table, packet);
        if (found === undefined || isSuppressed(rule, found)) continue;
        return found;
      }
      case 'unreachable':
        return { errno: 'ENETUNREACH' };
      case 'prohibit':
        return { errno: 'EACCES' };
      case 'blackhole':
        return { errno: 'EINVAL' };
      default:
    }
  }
  return { errno: 'ENETUNREACH' };
}

/** Looks a packet up in one table; `undefined` for no match, or for one that throws it back to the rules. */
export function lookupTable(namespace: Namespace, table: number, packet: Packet): Found | undefined {
  const { dst, scope = RT_SCOPE.UNIVERSE } = packet;
  const candidates = namespace.routes
    .filter((route) => route.family === dst.family && route.table === table && route.dst.contains(dst))
    .filter((route) => dst.family === 6 || route.scope >= scope)
    .filter(({ src }) => src === undefined || (packet.src !== undefined && src.contains(packet.src)))
    .toSorted((a, b) => b.dst.bits - a.dst.bits || a.metric - b.metric);
  for (const route of candidates) {
    const errno = DROPS[route.type];
    if (errno !== undefined) return { errno };
    if (route.type === 'throw') return undefined;
    const hop = route.hops.find((each) => isUsable(namespace, route, each, packet));
    if (hop !== undefined) return { route, hop };
  }
  return undefined;
}

/** What type an address has for this host: its own, a broadcast one, or somebody else's. */
export function addressType(
  namespace: Namespace,
  address: Addr,
  table: number,
): 'local' | 'broadcast' | 'unicast' {
  const found = lookupTable(namespace, table, { dst: address });
  const type = found?.route?.type;
  return type === 'local' || type === 'broadcast' ? type : 'unicast';
}

/** Whether an address belongs to this host, and IPv6 may use it. */
export function isOwn(namespace: Namespace, address: Addr, link?: number): boolean {
  return namespace.addresses.some(
    (each) =>
      each.local.equals(address) &&
      (each.flags & TENTATIVE) === 0 &&
      (link === undefined || each.link === link),
  );
}

const TENTATIVE = 0x40;

const DROPS: Readonly<Record<string, string>> = {
  blackhole: 'EINVAL',
  unreachable: 'EHOSTUNREACH',
  prohibit: 'EACCES',
};

function isUsable(namespace: Namespace, route: RouteRecord, hop: HopRecord, { oif }: Packet): boolean {
  const link = namespace.links.get(hop.link);
  if (link === undefined || (!link.up && route.type !== 'local')) return false;
  return oif === undefined || oif === 0 || hop.link === oif;
}

function isSuppressed({ attributes }: RuleRecord, found: Found): boolean {
  const limit = attributes.suppressPrefixLength ?? SUPPRESS_NONE;
  return limit !== SUPPRESS_NONE && found.route !== undefined && found.route.dst.bits <= limit;
}

function matchesRule(namespace: Namespace, rule: RuleRecord, packet: Packet): boolean {
  const { attributes: a } = rule;
  const nameOf = (index: number | undefined) => namespace.links.get(index ?? LOOPBACK)?.name;
  const inside = (addr: Addr | undefined, bits: number, of: Addr | undefined) =>
    addr === undefined || (of !== undefined && Prefix.of(addr, bits).contains(of));
  const zero = ZERO[packet.dst.family];
  const matches =
    inside(a.dst, rule.dstLength, packet.dst) &&
    inside(a.src, rule.srcLength, packet.src ?? zero) &&
    (a.iif === undefined || a.iif === nameOf(packet.iif)) &&
    (a.oif === undefined || (packet.oif !== undefined && a.oif === nameOf(packet.oif))) &&
    (a.fwmark === undefined || (((packet.mark ?? 0) ^ a.fwmark) & (a.fwmask ?? -1)) === 0);
  return (rule.flags & FIB_RULE_INVERT) === 0 ? matches : !matches;
}

const LOOPBACK = 1;
const ZERO: Readonly<Record<Family, Addr>> = { 4: Prefix.DEFAULT4.addr, 6: Prefix.DEFAULT6.addr };
