/** The ruleset of a namespace. */
import type { Value } from '@heddle/wire';
import type { chainMessage } from '../../nft/codec/chain.ts';
import type { WireElement } from '../../nft/codec/element.ts';
import type { Expression } from '../../nft/codec/expressions.ts';
import type { objectMessage } from '../../nft/codec/object.ts';
import type { ruleMessage } from '../../nft/codec/rule.ts';
import type { setMessage } from '../../nft/codec/set.ts';
import type { NftFamily } from '../../nft/model.ts';

type AttributesOf<C> = Omit<(Value<C> & { readonly attributes: object })['attributes'], 'unknown'>;

/** All tables, by {@link tableKey}. */
export interface Ruleset {
  /** Counts the transactions. */
  readonly generation: number;
  readonly tables: ReadonlyMap<string, TableRecord>;
}

/** A table. What is in it is changed in the copy of a transaction only. */
export interface TableRecord {
  readonly family: NftFamily;
  readonly name: string;
  readonly handle: number;
  readonly flags: number;
  readonly userdata?: Uint8Array;
  /** Gives handles out; those of a transaction that fails are not used again. */
  readonly handles: { last: number };
  readonly chains: Map<string, ChainRecord>;
  readonly sets: Map<string, SetRecord>;
  readonly objects: Map<string, ObjectRecord>;
}

/** A chain with its rules. */
export interface ChainRecord {
  readonly handle: number;
  readonly attributes: AttributesOf<typeof chainMessage> & { readonly name: string };
  readonly rules: readonly RuleRecord[];
}

/** A rule. */
export interface RuleRecord {
  readonly handle: number;
  readonly expressions: readonly Expression[];
  readonly attributes: Pick<AttributesOf<typeof ruleMessage>, 'compat' | 'userdata'>;
}

/** A set or map with its elements, by {@link elementKey}. */
export interface SetRecord {
  readonly handle: number;
  readonly attributes: AttributesOf<typeof setMessage> & { readonly name: string; readonly flags: number };
  readonly elements: Map<string, ElementRecord>;
}

/** An element; of a set of plain intervals, the start of one or its end, the first key that is behind it. */
export type ElementRecord = WireElement;

/** A named object: a counter. */
export interface ObjectRecord {
  readonly handle: number;
  readonly attributes: AttributesOf<typeof objectMessage> & { readonly name: string };
}

/** What tells a table from all others. */
export function tableKey(family: string | number, name: string): string {
  return `${family} ${name}`;
}

/** A fresh namespace has no tables. */
export const EMPTY_RULESET: Ruleset = { generation: 1, tables: new Map() };
