/**
 * Changes to the ruleset, as plain values: an operation and an object. {@link Nft.commit} carries out any
 * number of them at once or not at all.
 *
 * @example
 * await nft.commit([
 *   add(table({ family: 'inet', name: 'demo' })),
 *   add(chain({ family: 'inet', table: 'demo', name: 'in', base: { type: 'filter', hook: 'input', priority: 0 } })),
 *   add(rule({ family: 'inet', table: 'demo', chain: 'in', expressions: [match(tcp.dport, 'eq', 22), accept()] })),
 * ]);
 */
import type { NftChain, NftCounter, NftElement, NftObject, NftRule, NftSet, NftTable } from './model.ts';
import type { Statement } from './statements.ts';

/** One change. */
export interface NftChange {
  readonly op: 'add' | 'create' | 'insert' | 'replace' | 'delete' | 'destroy' | 'flush';
  readonly object: NftObject;
}

/** An object as it is written down: `kind` is added by its constructor. */
export type NftSpec<T extends NftObject> = Omit<T, 'kind'>;

/** Adds an object. A table, chain or set that exists already may stay; a rule goes to the end of its chain. */
export function add(object: NftObject): NftChange {
  return { op: 'add', object };
}

/** Adds an object that must not exist yet, else EEXIST. */
export function create(object: NftObject): NftChange {
  return { op: 'create', object };
}

/** Adds a rule in front of its chain, or of the rule at `position`. */
export function insert(object: NftRule): NftChange {
  return { op: 'insert', object };
}

/** Puts a rule in the place of the one with its `handle`. */
export function replace(object: NftRule & { readonly handle: number }): NftChange {
  return { op: 'replace', object };
}

/** Deletes an object that must exist, else ENOENT. A table goes with all it holds. */
export function delete_(object: NftObject): NftChange {
  return { op: 'delete', object };
}

/** Deletes an object if it exists. */
export function destroy(object: NftObject): NftChange {
  return { op: 'destroy', object };
}

/** Empties a table of rules, a chain of its rules, a set of its elements. */
export function flush(object: NftTable | NftChain | NftSet): NftChange {
  return { op: 'flush', object };
}

/** A table. */
export function table(spec: NftSpec<NftTable>): NftTable {
  return { kind: 'table', ...spec };
}

/** A chain. */
export function chain(spec: NftSpec<NftChain>): NftChain {
  return { kind: 'chain', ...spec };
}

/** A rule. */
export function rule(spec: NftSpec<NftRule>): NftRule {
  return { kind: 'rule', ...spec };
}

/**
 * A set.
 *
 * @example set({ family: 'inet', table: 'demo', name: 'nodes', key: 'ipv4_addr', intervals: true })
 */
export function set(spec: NftSpec<Omit<NftSet, 'data'>>): NftSet {
  return { kind: 'set', ...spec };
}

/**
 * A map: a set whose elements have a value.
 *
 * @example
 * map({ family: 'ip', table: 'demo', name: 'ports', key: ['inet_proto', 'inet_service'], data: ['ipv4_addr', 'inet_service'] })
 */
export function map(spec: NftSpec<NftSet> & { readonly data: NonNullable<NftSet['data']> }): NftSet {
  return { kind: 'set', ...spec };
}

/**
 * An element of a set or map.
 *
 * @example
 * element({ family: 'ip', table: 'demo', set: 'ports', key: ['tcp', 8080], data: [Addr.parse('10.0.0.2'), 80] })
 */
export function element(spec: NftSpec<NftElement>): NftElement {
  return { kind: 'element', ...spec };
}

/** The statement that counts packets and bytes; or, of a table's own name for it, a counter to refer to. */
export function counter(): Statement;
export function counter(spec: NftSpec<NftCounter>): NftCounter;
export function counter(spec?: NftSpec<NftCounter>): Statement | NftCounter {
  return spec === undefined ? { kind: 'count' } : { kind: 'counter', ...spec };
}
