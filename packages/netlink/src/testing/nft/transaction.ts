/** A batch under way: it works on copies of the tables that it touches, and either all or nothing of it comes true. */

import type { Reply } from '../../core/message.ts';
import type { NftFamily } from '../../nft/model.ts';
import { refuse } from '../core/refusal.ts';
import { type Ruleset, type SetRecord, type TableRecord, tableKey } from './records.ts';

/** See the file's comment. */
export class Transaction {
  /**
   * Whether each rule is followed from the hooks as it comes. The kernel does so at the end, and goes through a
   * batch that fails there once more in this way, to find out which message is to blame.
   */
  readonly isStrict: boolean;
  /** What to tell those who listen, once it is over. */
  readonly told: Reply[] = [];
  /** The generation that its changes make. */
  readonly generation: number;
  /** The sets that the batch itself made, by their numbers in it. */
  readonly #setIds = new Map<number, { readonly table: TableRecord; readonly name: string }>();
  readonly #tables: Map<string, TableRecord>;
  readonly #copied = new Set<TableRecord>();
  #changed = false;

  constructor(ruleset: Ruleset, isStrict = false) {
    this.isStrict = isStrict;
    this.generation = ruleset.generation + 1;
    this.#tables = new Map(ruleset.tables);
  }

  /** The table, to be changed at will; `undefined` when there is none. */
  find(family: string | number, name: string | undefined): TableRecord | undefined {
    if (name === undefined) return undefined;
    const key = tableKey(family, name);
    const found = this.#tables.get(key);
    if (found === undefined || this.#copied.has(found)) return found;
    const copy = copyOf(found);
    this.#copied.add(copy);
    this.#tables.set(key, copy);
    return copy;
  }

  /** Like {@link find}, but refuses a table that is not there. */
  table(family: string | number, name: string | undefined): TableRecord {
    return this.find(family, name) ?? refuse('ENOENT');
  }

  /** Puts a table in, or in the place of what it was. */
  put(table: TableRecord): void {
    this.#copied.add(table);
    this.#tables.set(tableKey(table.family, table.name), table);
    this.#changed = true;
  }

  /** Takes a table out. */
  remove(table: TableRecord): void {
    this.#tables.delete(tableKey(table.family, table.name));
    this.#changed = true;
  }

  /** The tables of a family, or of all. */
  tables(family: NftFamily | 'unspec'): TableRecord[] {
    return [...this.#tables.values()].filter((table) => family === 'unspec' || table.family === family);
  }

  /** The tables that it made or had a copy of, and that are there. */
  touched(): TableRecord[] {
    return [...this.#tables.values()].filter((table) => this.#copied.has(table));
  }

  /** Notes that something was changed, and tells of it. */
  tell(reply: Reply): void {
    this.#changed = true;
    this.told.push(reply);
  }

  /** Remembers a set under its number in the batch. */
  nameSet(table: TableRecord, id: number | undefined, name: string): void {
    if (id !== undefined) this.#setIds.set(id, { table, name });
  }

  /** The set that a number or, without one that is known, a name stands for. */
  set(table: TableRecord, name: string | undefined, id: number | undefined): SetRecord {
    const own = id === undefined ? undefined : this.#setIds.get(id);
    const found = own !== undefined && own.table.name === table.name ? own.name : name;
    return (found === undefined ? undefined : table.sets.get(found)) ?? refuse('ENOENT');
  }

  /** The ruleset as it is now; the same as before when nothing was changed. */
  commit(before: Ruleset): Ruleset {
    return this.#changed ? { generation: this.generation, tables: this.#tables } : before;
  }
}

function copyOf(table: TableRecord): TableRecord {
  return {
    ...table,
    chains: new Map(table.chains),
    sets: new Map([...table.sets].map(([name, set]) => [name, { ...set, elements: new Map(set.elements) }])),
    objects: new Map(table.objects),
  };
}
