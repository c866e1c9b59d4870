/** The same as `calculate`, step by step: what one node's change costs does not depend on how many nodes there are. */
import type { Affinity, Pool } from '@heddle/ipam/blocks';
import type { NodeRecord } from '../cluster/records.ts';
import type { DesiredObject, DesiredState } from './desired.ts';
import { objectsFor } from './node-objects.ts';
import { needsV6 } from './overlays.ts';
import { ownObjects } from './own-objects.ts';
import { allFaults, SharedAddresses } from './shared-addresses.ts';
import type { Borrowed, OwnNode } from './view.ts';

/** What has changed since the last time. */
export interface Delta {
  /** New, or otherwise than before. */
  readonly put: readonly DesiredObject[];
  /** No longer wanted, as they were. */
  readonly drop: readonly DesiredObject[];
  /** The other nodes that it came from. */
  readonly nodes: readonly string[];
}

/** Comes before the name of any node. */
const OWN = '';

/** See the file's comment. Put in what became known, then take the {@link Calculator.delta}. */
export class Calculator {
  #own: OwnNode;
  readonly #pools = new Map<string, Pool>();
  readonly #nodes = new Map<string, NodeRecord>();
  /** By node, and by key of the store. */
  readonly #affinities = new Map<string, Map<string, Affinity>>();
  readonly #affinityNodes = new Map<string, string>();
  /** By holder, and by key of the block. */
  readonly #borrowed = new Map<string, Map<string, readonly Borrowed[]>>();
  readonly #blockHolders = new Map<string, readonly string[]>();
  /** Who wants what at a place, in the order of names: the first has it. */
  readonly #claims = new Map<string, readonly Claim[]>();
  readonly #objectsOf = new Map<string, ReadonlyMap<string, DesiredObject>>();
  /** What of a node's blocks cannot be reached. */
  readonly #unreachable = new Map<string, string>();
  readonly #addresses = new SharedAddresses();
  readonly #dirty = new Set<string>([OWN]);
  #v6Peers = 0;

  constructor(own: OwnNode) {
    this.#own = own;
    this.#addresses.change(own.record.name, undefined, own.record);
  }

  /** This node's own record or underlay changed: everything may. */
  setOwn(own: OwnNode): void {
    this.#addresses.change(own.record.name, this.#own.record, own.record);
    this.#own = own;
    this.#touchAll();
  }

  /** Another node's record; `undefined` when it is gone. */
  setNode(name: string, record: NodeRecord | undefined): void {
    if (name === this.#own.record.name) return;
    const before = this.#nodes.get(name);
    this.#addresses.change(name, before, record);
    const needed = this.#v6Peers;
    this.#v6Peers +=
      Number(record !== undefined && needsV6(record)) - Number(before !== undefined && needsV6(before));
    if (needed > 0 !== this.#v6Peers > 0) this.#dirty.add(OWN);
    if (record === undefined) this.#nodes.delete(name);
    else this.#nodes.set(name, record);
    this.#dirty.add(name);
  }

  /** A pool; `undefined` when it is gone. */
  setPool(name: string, pool: Pool | undefined): void {
    if (pool === undefined) this.#pools.delete(name);
    else this.#pools.set(name, pool);
    this.#touchAll();
  }

  /** What stands under the key of an affinity. */
  setAffinity(key: string, affinity: Affinity | undefined): void {
    const before = this.#affinityNodes.get(key);
    if (before !== undefined) this.#drop(this.#affinities, before, key);
    if (affinity === undefined) {
      this.#affinityNodes.delete(key);
      return;
    }
    this.#affinityNodes.set(key, affinity.node);
    this.#put(this.#affinities, affinity.node, key, affinity);
  }

  /** The addresses that are borrowed in the block of this key; none when it is gone. */
  setBorrowed(key: string, borrowed: readonly Borrowed[]): void {
    for (const holder of this.#blockHolders.get(key) ?? []) this.#drop(this.#borrowed, holder, key);
    const byHolder = Map.groupBy(borrowed, ({ holder }) => holder);
    if (byHolder.size === 0) this.#blockHolders.delete(key);
    else this.#blockHolders.set(key, [...byHolder.keys()]);
    for (const [holder, some] of byHolder) this.#put(this.#borrowed, holder, key, some);
  }

  /** What is otherwise than when it was last asked. */
  delta(): Delta {
    const before = new Map<string, DesiredObject | undefined>();
    for (const source of this.#dirty) this.#recalculate(source, before);
    const nodes = [...this.#dirty].filter((source) => source !== OWN);
    this.#dirty.clear();
    const put: DesiredObject[] = [];
    const drop: DesiredObject[] = [];
    for (const [key, was] of before) {
      const is = this.#claims.get(key)?.[0]?.object;
      if (is?.text === was?.text && is !== undefined && was !== undefined) continue;
      if (is !== undefined) put.push(is);
      else if (was !== undefined) drop.push(was);
    }
    return { put, drop, nodes };
  }

  /** The whole, as it was at the last delta. */
  state(): DesiredState {
    const objects = new Map<string, DesiredObject>();
    for (const [key, [first]] of this.#claims) if (first !== undefined) objects.set(key, first.object);
    return { objects, faults: this.faults };
  }

  /** What is known of a node's blocks. */
  blocksOf(node: string): readonly Affinity[] {
    return [...(this.#affinities.get(node)?.values() ?? [])];
  }

  get own(): OwnNode {
    return this.#own;
  }

  get pools(): ReadonlyMap<string, Pool> {
    return this.#pools;
  }

  get nodes(): ReadonlyMap<string, NodeRecord> {
    return this.#nodes;
  }

  get faults(): ReadonlyMap<string, string> {
    return allFaults(this.#unreachable, this.#addresses, this.#own.record.name);
  }

  #touchAll(): void {
    this.#dirty.add(OWN);
    for (const name of this.#nodes.keys()) this.#dirty.add(name);
  }

  #put<T>(index: Map<string, Map<string, T>>, node: string, key: string, value: T): void {
    const known = index.get(node);
    if (known === undefined) index.set(node, new Map([[key, value]]));
    else known.set(key, value);
    this.#touch(node);
  }

  #drop<T>(index: Map<string, Map<string, T>>, node: string, key: string): void {
    const known = index.get(node);
    known?.delete(key);
    if (known?.size === 0) index.delete(node);
    this.#touch(node);
  }

  #touch(node: string): void {
    this.#dirty.add(node === this.#own.record.name ? OWN : node);
  }

  #recalculate(source: string, before: Map<string, DesiredObject | undefined>): void {
    const old = this.#objectsOf.get(source) ?? NOTHING;
    const now = new Map(this.#wantedBy(source).map((object) => [object.key, object]));
    const change = (key: string, object: DesiredObject | undefined) => {
      if (!before.has(key)) before.set(key, this.#claims.get(key)?.[0]?.object);
      this.#claim(key, source, object);
    };
    for (const key of old.keys()) if (!now.has(key)) change(key, undefined);
    for (const [key, object] of now) if (old.get(key)?.text !== object.text) change(key, object);
    if (now.size === 0) this.#objectsOf.delete(source);
    else this.#objectsOf.set(source, now);
  }

  #wantedBy(source: string): readonly DesiredObject[] {
    if (source === OWN) {
      const affinities = this.#affinities.get(this.#own.record.name)?.values() ?? [];
      return ownObjects(this.#own, this.#pools, affinities, this.#v6Peers > 0);
    }
    const record = this.#nodes.get(source);
    const subject = `node ${source}`;
    this.#unreachable.delete(subject);
    if (record === undefined) return [];
    const affinities = this.#affinities.get(source)?.values() ?? [];
    const borrowed = [...(this.#borrowed.get(source)?.values() ?? [])].flat();
    const { objects, fault } = objectsFor(this.#own, { record, affinities, borrowed }, this.#pools);
    if (fault !== undefined) this.#unreachable.set(subject, fault);
    return objects;
  }

  #claim(key: string, source: string, object: DesiredObject | undefined): void {
    const others = (this.#claims.get(key) ?? []).filter((claim) => claim.source !== source);
    const all = object === undefined ? others : [...others, { source, object }];
    if (all.length === 0) this.#claims.delete(key);
    else this.#claims.set(key, all.length === 1 ? all : all.sort((a, b) => (a.source < b.source ? -1 : 1)));
  }
}

interface Claim {
  readonly source: string;
  readonly object: DesiredObject;
}

const NOTHING: ReadonlyMap<string, DesiredObject> = new Map();
