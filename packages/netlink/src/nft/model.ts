/**
 * The objects of nf_tables as values: what is given to add one, and what listing gives back. A listed object
 * can be handed to `delete_` or `flush` as it is.
 */
import type { Expression } from './codec/expressions.ts';
import type { KeyType } from './key-types.ts';
import type { KeyValue } from './key-values.ts';
import type { Statement, Verdict } from './statements.ts';

/** The family of a table. */
export type NftFamily = 'inet' | 'ip' | 'ip6' | 'bridge' | 'arp' | 'netdev';

/** A table by name. */
export interface NftTable {
  readonly kind: 'table';
  readonly family: NftFamily;
  readonly name: string;
  readonly comment?: string;
  /** NFT_TABLE_F_*: 1 dormant, 2 owned by a socket, 4 kept when its owner leaves. */
  readonly flags?: number;
  /** As listed. */
  readonly handle?: number;
}

/** Where packets enter a base chain. */
export interface NftHook {
  readonly type: 'filter' | 'nat' | 'route';
  readonly hook: 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting' | 'ingress' | 'egress';
  /** Lower comes first; `nft` calls -100 `dstnat`, 0 `filter`, 100 `srcnat`. */
  readonly priority: number;
  /** What happens to packets that reach the end; accept without. */
  readonly policy?: 'accept' | 'drop';
  /** The link of an ingress or egress hook. */
  readonly device?: string;
}

/** A chain; one with `base` is entered by packets, one without by jumps. */
export interface NftChain {
  readonly kind: 'chain';
  readonly family: NftFamily;
  readonly table: string;
  readonly name: string;
  readonly base?: NftHook;
  readonly comment?: string;
  /** As listed. */
  readonly handle?: number;
}

/** A rule. To delete or replace one, `handle` says which. */
export interface NftRule {
  readonly kind: 'rule';
  readonly family: NftFamily;
  readonly table: string;
  readonly chain: string;
  /** Listed rules hold expressions, written ones mostly statements. */
  readonly expressions: readonly (Statement | Expression)[];
  /** At most 253 bytes. */
  readonly comment?: string;
  readonly handle?: number;
  /** The handle of another rule: `add` puts this one behind it, `insert` in front of it. */
  readonly position?: number;
  /** What the kernel tells iptables extensions in this rule. */
  readonly compat?: { readonly protocol: number; readonly inverted?: boolean };
  /** As listed: what the rule's writer keeps with it, as bytes. */
  readonly userdata?: Uint8Array;
}

/** A rule as the kernel has it. */
export interface ListedRule extends NftRule {
  readonly expressions: readonly Expression[];
  readonly handle: number;
}

/** A set, or with `data` a map. */
export interface NftSet {
  readonly kind: 'set';
  readonly family: NftFamily;
  readonly table: string;
  readonly name: string;
  /** One type, or several for a concatenation. */
  readonly key: KeyType | readonly KeyType[];
  /** What a map gives: values, verdicts, or named counters. */
  readonly data?: KeyType | readonly KeyType[] | 'verdict' | 'counter';
  /** Elements may be prefixes and ranges. */
  readonly intervals?: boolean;
  /** Elements may expire; a number is the default in milliseconds. */
  readonly timeout?: number | true;
  /** Every element counts what it matched. */
  readonly counters?: boolean;
  /** Rules may add elements. */
  readonly dynamic?: boolean;
  /** The most elements it may hold. */
  readonly size?: number;
  readonly comment?: string;
  /** As listed. */
  readonly handle?: number;
}

/** Packets and bytes counted. */
export interface Counts {
  readonly packets: bigint;
  readonly bytes: bigint;
}

/** An element of a set or map. */
export interface NftElement {
  readonly kind: 'element';
  readonly family: NftFamily;
  readonly table: string;
  /** The set's name; or the set itself, which saves asking the kernel for its types. */
  readonly set: string | NftSet;
  readonly key: KeyValue;
  /** A map's value: a verdict, a value, the name of a counter. */
  readonly data?: KeyValue | Verdict;
  /** At most 253 bytes. */
  readonly comment?: string;
  /** Milliseconds until it expires. */
  readonly timeout?: number;
  /** As listed: milliseconds left. */
  readonly expires?: number;
  /** A counter of its own; `true` starts at zero. */
  readonly counter?: Counts | true;
}

/** An element as the kernel has it. */
export interface ListedElement extends NftElement {
  readonly set: string;
  readonly counter?: Counts;
}

/** A named counter, which rules and maps refer to. */
export interface NftCounter extends Partial<Counts> {
  readonly kind: 'counter';
  readonly family: NftFamily;
  readonly table: string;
  readonly name: string;
  readonly comment?: string;
  /** As listed. */
  readonly handle?: number;
}

/** Anything that a change is about. */
export type NftObject = NftTable | NftChain | NftRule | NftSet | NftElement | NftCounter;
