/**
 * The statements that rules are written in. Each is a plain value; {@link compile} turns it into the kernel's
 * expressions.
 *
 * @example
 * [match(ip.saddr, 'eq', pod), match(ip.daddr, 'ne', network), masquerade()]
 */
import type { Addr } from '@heddle/netaddr';
import type { Expression } from './codec/expressions.ts';
import type { KeyValue } from './key-values.ts';
import type { Operand } from './operands.ts';

/** How the two sides of a match relate. `in` and `notin` take lists and sets. */
export type MatchOperator = 'eq' | 'ne' | 'lt' | 'gt' | 'le' | 'ge' | 'in' | 'notin';

/** A named set in the rule's table. */
export interface SetRef {
  readonly kind: 'set-ref';
  readonly name: string;
}

/** The right side of a match. Of a concatenation: a tuple, or a list of tuples. */
export type MatchValue = KeyValue | readonly KeyValue[] | SetRef;

/** What becomes of a packet. Codes that have no name here are listed as numbers. */
export type Verdict =
  | {
      readonly kind: 'verdict';
      readonly verdict: 'accept' | 'drop' | 'return' | 'continue' | 'break' | 'queue' | number;
    }
  | { readonly kind: 'verdict'; readonly verdict: 'jump' | 'goto'; readonly chain: string };

/** An entry of an anonymous verdict map. */
export interface VerdictEntry {
  readonly key: KeyValue;
  readonly verdict: Verdict;
}

/** How ports are chosen when connections are translated. */
export interface NatFlags {
  /** Begin at a random port. */
  readonly random?: boolean;
  /** Choose every port at random. */
  readonly fullyRandom?: boolean;
  /** The same client gets the same address. */
  readonly persistent?: boolean;
}

/** Where the new address comes from: a value, or a map. */
export type NatTarget =
  | { readonly to: Addr; readonly port?: number }
  | {
      readonly family: 'ip' | 'ip6';
      readonly fromMap: {
        readonly key: Operand;
        /** A map in the rule's table whose data is an address, or with `withPort` an address and a port. */
        readonly map: string;
        readonly withPort: boolean;
      };
    };

/** What answers a rejected packet. */
export type RejectWith =
  | 'port-unreachable'
  | 'host-unreachable'
  | 'no-route'
  | 'admin-prohibited'
  | 'tcp-reset';

/** The parameters of {@link limit}. */
export interface LimitOptions {
  readonly rate: number;
  readonly per: 'second' | 'minute' | 'hour' | 'day' | 'week';
  /** What may exceed the rate at once; 5 packets or 0 bytes without. */
  readonly burst?: number;
  /** Count bytes rather than packets. */
  readonly unit?: 'packets' | 'bytes';
  /** Match what exceeds the rate, not what keeps it. */
  readonly over?: boolean;
}

/** The parameters of {@link log}. */
export interface LogOptions {
  readonly prefix?: string;
  /** An NFLOG group; the kernel's log without. */
  readonly group?: number;
  /** Of the kernel's log. */
  readonly level?: 'emerg' | 'alert' | 'crit' | 'err' | 'warn' | 'notice' | 'info' | 'debug';
  /** Bytes of each packet to copy to the group. */
  readonly snaplen?: number;
}

/** An extension of iptables: its name, revision and its own struct. */
export interface XtExtension {
  readonly name: string;
  readonly revision: number;
  readonly info: Uint8Array;
}

/** One statement of a rule. */
export type Statement =
  | { readonly kind: 'match'; readonly left: Operand; readonly op: MatchOperator; readonly right: MatchValue }
  | { readonly kind: 'vmap'; readonly key: Operand; readonly map: string | readonly VerdictEntry[] }
  | Verdict
  | ({ readonly kind: 'masquerade' } & NatFlags)
  | { readonly kind: 'dnat' | 'snat'; readonly target: NatTarget; readonly flags: NatFlags }
  | ({ readonly kind: 'redirect'; readonly port?: number } & NatFlags)
  | { readonly kind: 'count' }
  | { readonly kind: 'counter-ref'; readonly name: string }
  | {
      readonly kind: 'set-mark';
      readonly of: 'packet' | 'connection';
      readonly value: number | Operand;
      readonly mask?: number;
    }
  | ({ readonly kind: 'log' } & LogOptions)
  | ({ readonly kind: 'limit' } & LimitOptions)
  | { readonly kind: 'reject'; readonly with: RejectWith }
  | { readonly kind: 'notrack' }
  | { readonly kind: 'xt-match' | 'xt-target'; readonly extension: XtExtension }
  | { readonly kind: 'raw'; readonly expression: Expression };

/**
 * Goes on with the rule only where `left` is as asked. `eq` and `ne` take a value, a prefix or a range; `in`
 * and `notin` a list or a set. For connection states, whose bits stand for themselves, `in` means any of them.
 *
 * @example
 * match(ip.saddr, 'eq', Prefix.parse('10.0.0.0/8'))
 * match(tcp.dport, 'in', [80, 443, { from: 8000, to: 8999 }])
 * match(ct.state, 'in', ['established', 'related'])
 * match(concat(ip.saddr, ip.daddr), 'notin', setRef('allowed'))
 */
export function match(left: Operand, op: MatchOperator, right: MatchValue): Statement {
  return { kind: 'match', left, op, right };
}

/** A set of the rule's table, by name. */
export function setRef(name: string): SetRef {
  return { kind: 'set-ref', name };
}

/**
 * Looks up a verdict, in a named map or in entries of its own.
 *
 * @example vmap(concat(ip.saddr, ip.daddr), 'policy')
 */
export function vmap(key: Operand, map: string | readonly VerdictEntry[]): Statement {
  return { kind: 'vmap', key, map };
}

/** Lets the packet pass this hook; base chains of a later priority still see it. */
export function accept(): Verdict {
  return { kind: 'verdict', verdict: 'accept' };
}

/** Drops the packet, for good. */
export function drop(): Verdict {
  return { kind: 'verdict', verdict: 'drop' };
}

/** Goes back to the calling chain, or to the policy of a base chain. */
export function ret(): Verdict {
  return { kind: 'verdict', verdict: 'return' };
}

/** Goes through another chain, and on with the next rule when that does not decide. */
export function jump(chain: string): Verdict {
  return { kind: 'verdict', verdict: 'jump', chain };
}

/** Goes on in another chain and does not come back. */
export function goto_(chain: string): Verdict {
  return { kind: 'verdict', verdict: 'goto', chain };
}

/** Replaces the source address by the outgoing link's. */
export function masquerade(flags: NatFlags = {}): Statement {
  return { kind: 'masquerade', ...flags };
}

/**
 * Replaces the destination address, and port.
 *
 * @example
 * dnat({ to: Addr.parse('10.0.0.2'), port: 80 })
 * dnat({ family: 'ip', fromMap: { key: concat(meta.l4proto, th.dport), map: 'ports', withPort: true } })
 */
export function dnat(target: NatTarget, flags: NatFlags = {}): Statement {
  return { kind: 'dnat', target, flags };
}

/** Replaces the source address, and port. */
export function snat(target: NatTarget, flags: NatFlags = {}): Statement {
  return { kind: 'snat', target, flags };
}

/** Sends the packet to this host itself, to another port if given. */
export function redirect(options: { readonly port?: number } & NatFlags = {}): Statement {
  return { kind: 'redirect', ...options };
}

/** Counts with a named counter of the table. */
export function counterRef(name: string): Statement {
  return { kind: 'counter-ref', name };
}

/**
 * Sets the packet's mark, or with `mask` those of its bits.
 *
 * @example
 * setMark(0x400, 0x400)  // one bit
 * setMark(ct.mark)       // as the connection's
 */
export function setMark(value: number | Operand, mask?: number): Statement {
  return { kind: 'set-mark', of: 'packet', value, ...(mask === undefined ? {} : { mask }) };
}

/** Sets the connection's mark, or with `mask` those of its bits. */
export function setCtMark(value: number | Operand, mask?: number): Statement {
  return { kind: 'set-mark', of: 'connection', value, ...(mask === undefined ? {} : { mask }) };
}

/** Writes to the kernel's log, or sends to an NFLOG group. */
export function log(options: LogOptions = {}): Statement {
  return { kind: 'log', ...options };
}

/** Goes on only while a rate is kept. */
export function limit(options: LimitOptions): Statement {
  return { kind: 'limit', ...options };
}

/** Drops the packet and tells its sender. */
export function reject(answer: RejectWith = 'port-unreachable'): Statement {
  return { kind: 'reject', with: answer };
}

/** Keeps the packet out of connection tracking; before priority -200 only. */
export function notrack(): Statement {
  return { kind: 'notrack' };
}

/** A match of iptables, as iptables-nft writes it. */
export function xtMatch(extension: XtExtension): Statement {
  return { kind: 'xt-match', extension };
}

/** A target of iptables. */
export function xtTarget(extension: XtExtension): Statement {
  return { kind: 'xt-target', extension };
}

/** An expression of the kernel's own, for what has no statement here. */
export function raw(expression: Expression): Statement {
  return { kind: 'raw', expression };
}

/** Whether a map's value is a verdict. */
export function isVerdict(value: KeyValue | Verdict): value is Verdict {
  return typeof value === 'object' && 'kind' in value && value.kind === 'verdict';
}
