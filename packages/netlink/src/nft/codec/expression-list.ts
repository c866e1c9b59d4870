/**
 * NFTA_EXPR_*: an expression is a name and the attributes that belong to it — linux/netfilter/nf_tables.h
 *
 * Here it is one flat value, `{ expr: 'meta', key: 'mark', dreg: 1 }`.
 */
import {
  type Attribute,
  attr,
  attrs,
  type Codec,
  choice,
  cstring,
  elements,
  mapped,
  type Value,
} from '@heddle/wire';

/** NFTA_LIST_ELEM: the type of every item of a list. */
export const LIST_ELEM = 1;

/** An expression that is not declared: its attributes as they are. */
export interface RawExpression {
  readonly expr: 'raw';
  readonly name: string;
  readonly attributes: Uint8Array;
}

/** Sets the nested flag on an attribute whose codec is not seen to be a set. */
export function nested<A extends Attribute<unknown, never> | Attribute<never, never>>(attribute: A): A {
  return { ...attribute, nested: true };
}

/** The attributes of expressions by name. */
export type Declared = Readonly<Record<string, Codec<object, never>>>;
/** Any of the declared expressions, or another one. */
export type OneOf<D extends Declared> =
  | { readonly [N in keyof D]: { readonly expr: N } & Value<D[N]> }[keyof D]
  | RawExpression;

/** NFTA_EXPR_*, as the value that `choice` gives. */
interface Named {
  readonly name?: string;
  readonly data?: Readonly<Record<string, object | undefined>>;
}

/** One expression. */
export function oneExpression<D extends Declared, E>(declared: D): Codec<E> {
  return mapped(namedExpression(declared), { read: (item) => flat<E>(declared, item), write: named<E> });
}

/** A list of expressions, NFTA_LIST_ELEM each. */
export function listOf<D extends Declared, E>(declared: D): Codec<readonly E[]> {
  return mapped(elements(LIST_ELEM, namedExpression(declared)), {
    read: (items) => items.map((item) => flat<E>(declared, item)),
    write: (items: readonly E[]) => items.map(named<E>),
  });
}

function namedExpression(declared: Declared): Codec<Named> {
  const codec: unknown = attrs('NFTA_EXPR', { name: attr(1, cstring), data: choice(2, 'name', declared) });
  return codec as Codec<Named>;
}

function flat<E>(declared: Declared, { name = '', data: payload = {} }: Named): E {
  // Expressions without attributes, such as notrack, have no NFTA_EXPR_DATA.
  if (Object.hasOwn(declared, name)) return { expr: name, ...payload[name] } as E;
  return { expr: 'raw', name, attributes: payload['raw'] ?? new Uint8Array(0) } as E;
}

function named<E>(expression: E): Named {
  const { expr, ...attributes } = expression as { readonly expr: string };
  if (expr === 'notrack') return { name: expr };
  if (expr !== 'raw') return { name: expr, data: { [expr]: attributes } };
  const { name, attributes: raw } = expression as RawExpression;
  return { name, data: { raw } };
}
