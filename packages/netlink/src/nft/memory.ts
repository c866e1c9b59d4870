/**
 * What sessions of one namespace have read of its ruleset, good for as long as nobody else changes that.
 *
 * Every transaction, whoever makes it, gives the ruleset the next generation number. What was read at the current
 * generation need not be read again; and when a transaction of one's own has brought the very next number, what it
 * changed is known. Anything else makes everything forgotten.
 */
import type { NftChange } from './changes.ts';
import { withRuleChange } from './known-rules.ts';
import type { ListedElement, ListedRule, NftElement, NftSet, NftTable } from './model.ts';
import { setKey, setName } from './plan.ts';
import { identityOf, typesOfSet } from './set-types.ts';

/** See the file's comment. One for all sessions of a namespace. */
export class NftMemory {
  #generation: number | undefined;
  #isVerified = false;
  /** Lists by table and by what was asked. */
  readonly #lists = new Map<string, Map<string, readonly unknown[]>>();
  readonly #sets = new Map<string, RememberedSet>();
  /** Ends when whoever has the turn now, and all who wait for it, are through. */
  #turns: Promise<void> = Promise.resolve();

  /** The generation that what is remembered is of. */
  get generation(): number | undefined {
    return this.#generation;
  }

  /**
   * Whether the generation was looked at in this turn of the event loop, and nobody has doubted it since: what is
   * younger than that is as good as what a request brings.
   */
  get isVerified(): boolean {
    return this.#isVerified;
  }

  /** The generation is this one now. */
  verify(generation: number): void {
    if (generation !== this.#generation) this.forget();
    this.#generation = generation;
    this.#isVerified = true;
    setImmediate(() => {
      this.#isVerified = false;
    });
  }

  /** Has the generation looked at before the next use, for somebody to whom only what is from now on will do. */
  doubt(): void {
    this.#isVerified = false;
  }

  /** Waits for the turn to change something; the next one's comes when the result is disposed of. */
  async turn(): Promise<Disposable> {
    const before = this.#turns;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turns = before.then(() => promise);
    await before;
    return { [Symbol.dispose]: resolve };
  }

  /**
   * A transaction of one's own has been made, and after it the generation is this one.
   *
   * @param rules those added, in their order
   */
  committed(changes: readonly NftChange[], generation: number, rules: readonly ListedRule[]): void {
    const isNext = this.#generation !== undefined && generation === this.#generation + 1;
    if (isNext) {
      this.#generation = generation;
      const added = changes.filter(addsRule);
      const isTold = added.length === rules.length;
      const made = new Map(isTold ? added.map((change, index) => [change, rules[index]]) : []);
      for (const change of changes) this.#apply(change, made.get(change));
    }
    this.verify(generation);
  }

  /** Nothing is certain any more. */
  forget(): void {
    this.#generation = undefined;
    this.#isVerified = false;
    this.#lists.clear();
    this.#sets.clear();
  }

  /** A list that was read, if it is remembered. */
  list(table: string, what: string): readonly unknown[] | undefined {
    return this.#lists.get(table)?.get(what);
  }

  /** Remembers a list that was read while the generation was as it is. */
  keepList(table: string, what: string, found: readonly unknown[]): void {
    const lists = this.#lists.get(table) ?? new Map<string, readonly unknown[]>();
    this.#lists.set(table, lists.set(what, found));
  }

  /** The elements of a set, if they are remembered. */
  elements(set: NftSet): readonly ListedElement[] | undefined {
    return this.#sets.get(setKey({ ...set, set }))?.list();
  }

  /** Remembers the elements of a set. */
  keepElements(set: NftSet, elements: readonly ListedElement[]): void {
    this.#sets.set(setKey({ ...set, set }), new RememberedSet(set, elements));
  }

  /** @param made the rule that the change has added, where that is known */
  #apply(change: NftChange, made: ListedRule | undefined): void {
    const { op, object } = change;
    const isMere = op === 'add' || op === 'create';
    switch (object.kind) {
      case 'element': {
        const set = this.#sets.get(setKey(object));
        if (isMere) set?.add(object);
        else set?.delete(object);
        return;
      }
      case 'rule': {
        const lists = this.#lists.get(`${object.family} ${object.table}`);
        lists?.delete(rulesKey(undefined));
        const key = rulesKey(object.chain);
        const before = lists?.get(key) as readonly ListedRule[] | undefined;
        const after = before && withRuleChange(before, change, made);
        if (after !== undefined) lists?.set(key, after);
        else lists?.delete(key);
        return;
      }
      case 'table':
        // One that is made once more stays as it is, with all that it holds.
        if (isMere && object.flags === undefined && this.#knowsTable(object)) return;
        this.#lists.delete(ALL_TABLES);
        break;
      case 'chain':
        this.#lists.get(`${object.family} ${object.table}`)?.delete(chainKey(object.name));
        break;
      case 'set':
      case 'counter':
        break;
    }
    if (isMere) return;
    const table = `${object.family} ${object.kind === 'table' ? object.name : object.table}`;
    this.#lists.delete(table);
    if (object.kind === 'table' || object.kind === 'set') this.#forgetSets(table);
  }

  #knowsTable({ family, name }: NftTable): boolean {
    const lists = [...(this.#lists.get(ALL_TABLES)?.values() ?? [])] as readonly (readonly NftTable[])[];
    return lists.every((tables) => tables.some((each) => each.family === family && each.name === name));
  }

  #forgetSets(table: string): void {
    for (const key of this.#sets.keys()) {
      if (key.startsWith(`${table} `)) this.#sets.delete(key);
    }
  }
}

/** Stands for a table where a list is about all of them. */
export const ALL_TABLES = '';

/** What the list of a chain's rules, or of all of a table's, is remembered as. */
export function rulesKey(chain: string | undefined): string {
  return `rules ${chain ?? ''}`;
}

/** What it is remembered as whether there is a chain. */
export function chainKey(name: string): string {
  return `chain ${name}`;
}

function addsRule({ op, object }: NftChange): boolean {
  return object.kind === 'rule' && op !== 'delete' && op !== 'destroy';
}

class RememberedSet {
  readonly #set: NftSet;
  readonly #elements: Map<string, ListedElement>;
  #listed: readonly ListedElement[] | undefined;

  constructor(set: NftSet, elements: readonly ListedElement[]) {
    this.#set = set;
    this.#elements = new Map(elements.map((element) => [this.#identity(element), element]));
    this.#listed = elements;
  }

  list(): readonly ListedElement[] {
    this.#listed ??= [...this.#elements.values()];
    return this.#listed;
  }

  add(element: NftElement): void {
    const identity = this.#identity(element);
    // Adding once more leaves an element as it is.
    if (this.#elements.has(identity)) return;
    const { counter: _, ...rest } = element;
    this.#elements.set(identity, { ...rest, set: setName(element) });
    this.#listed = undefined;
  }

  delete(element: NftElement): void {
    if (this.#elements.delete(this.#identity(element))) this.#listed = undefined;
  }

  #identity({ key }: NftElement): string {
    return identityOf(typesOfSet(this.#set), key);
  }
}
