/**
 * A table of iptables-nft, read and changed over netlink: what `iptables-save` and `iptables-restore` do, without a
 * process.
 */
import {
  add,
  chain as chainOf,
  create,
  delete_,
  flush,
  insert,
  type KernelSession,
  type ListedRule,
  type NftChange,
  rule as ruleOf,
  table as tableOf,
} from '@heddle/netlink';
import { joinWords, splitWords } from '../iptables/rule-text.ts';
import type { IptablesTable, SavedRule, TableRef, TableView } from '../iptables/table.ts';
import { perObject } from '../per-object.ts';
import { BUILTIN_CHAINS } from './builtin-chains.ts';
import { jumpOf, readRule } from './read-rule.ts';
import { writeRule } from './write-rule.ts';

/** A table as it was read, and what the kernel calls its parts. */
export interface NftIptablesTable extends IptablesTable, TableRef {
  /** Of the chains that were asked for, those that exist. */
  readonly made: ReadonlySet<string>;
  readonly listed: ReadonlyMap<SavedRule, ListedRule>;
}

/** The family of nftables that a table is in. */
export function nftFamily(family: TableRef['family']): 'ip' | 'ip6' {
  return family === 4 ? 'ip' : 'ip6';
}

/**
 * Reads a table, as far as it is asked for: a node may have thousands of chains. A rule that says what has no words here
 * is a rule that nothing equals: its words are its handle, and the chain that it leads to.
 */
export async function readNftTable(
  { nft }: KernelSession,
  { family, table, chains, follow = () => false }: TableView,
): Promise<NftIptablesTable> {
  const where = { family: nftFamily(family), table };
  const made = new Set<string>();
  const listed = new Map<SavedRule, ListedRule>();
  const wanted = new Set(chains);
  // What is found on the way is read as well: a set goes on with what is added to it.
  for (const chain of wanted) {
    if ((await nft.findChain({ ...where, name: chain })) === undefined) continue;
    made.add(chain);
    for (const rule of await nft.rules({ ...where, chain })) {
      listed.set(savedRule(rule), rule);
      const next = jumpOf(rule);
      if (next !== undefined && follow(next)) wanted.add(next);
    }
  }
  const all = new Set([...BUILTIN_CHAINS[table].keys(), ...made]);
  return { family, table, chains: all, rules: [...listed.keys()], made, listed };
}

/**
 * The changes that lines of iptables-restore come to: `:CHAIN`, `-N`, `-A`, `-I`, `-D`, `-F` and `-X`. `undefined` when
 * one of them says what only iptables itself can tell the kernel.
 */
export function changesFor(
  table: NftIptablesTable,
  lines: readonly string[],
): readonly NftChange[] | undefined {
  const script = new Script(table);
  return lines.every((line) => script.take(line)) ? script.changes : undefined;
}

/** Carries lines out on the table as it was read, and notes the changes. */
class Script {
  readonly changes: NftChange[] = [];
  readonly #table: NftIptablesTable;
  readonly #where: { readonly family: 'ip' | 'ip6'; readonly table: string };
  readonly #made: Set<string>;
  /** The rules of each chain, in order; new ones have no handle yet. */
  readonly #rules = new Map<string, PlacedRule[]>();

  constructor(table: NftIptablesTable) {
    this.#table = table;
    this.#where = { family: nftFamily(table.family), table: table.table };
    this.#made = new Set(table.made);
    for (const listed of table.listed.values()) this.#rulesOf(listed.chain).push(placedRule(listed));
  }

  take(line: string): boolean {
    const [, first = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(line) ?? [];
    if (first.startsWith(':')) return this.#reset(first.slice(1));
    const [, chain = '', more = ''] = /^(\S+)\s*(.*)$/.exec(rest) ?? [];
    switch (first) {
      case '-N':
        return this.#make(chain);
      case '-A':
        return this.#insert(chain, this.#rulesOf(chain).length, more);
      case '-I': {
        const [, number = '1', text = more] = /^(\d+) (.*)$/.exec(more) ?? [];
        return this.#insert(chain, Number(number) - 1, text);
      }
      case '-D':
        return this.#delete(chain, more);
      case '-F':
        return this.#flush(chain);
      case '-X':
        return this.#note(delete_(chainOf({ ...this.#where, name: chain })));
      default:
        return false;
    }
  }

  #rulesOf(chain: string): PlacedRule[] {
    const before = this.#rules.get(chain);
    if (before !== undefined) return before;
    const rules: PlacedRule[] = [];
    this.#rules.set(chain, rules);
    return rules;
  }

  #note(change: NftChange): true {
    this.changes.push(change);
    return true;
  }

  /** Makes a chain; of those that the table has by itself, only one that is missing. */
  #make(chain: string): true {
    const { family, table } = this.#where;
    const base = BUILTIN_CHAINS[this.#table.table].get(chain);
    if (base !== undefined && this.#made.has(chain)) return true;
    if (this.#made.size === 0) this.#note(add(tableOf({ family, name: table })));
    this.#made.add(chain);
    return this.#note(create(chainOf({ ...this.#where, name: chain, ...(base !== undefined && { base }) })));
  }

  #reset(chain: string): true {
    return this.#made.has(chain) ? this.#flush(chain) : this.#make(chain);
  }

  #flush(chain: string): true {
    this.#rules.delete(chain);
    return this.#note(flush(chainOf({ ...this.#where, name: chain })));
  }

  #insert(chain: string, at: number, text: string): boolean {
    const written = writeRule(splitWords(text), this.#table.family);
    if (written === undefined) return false;
    if (BUILTIN_CHAINS[this.#table.table].has(chain)) this.#make(chain);
    const rules = this.#rulesOf(chain);
    const next = rules[at];
    const rule = ruleOf({ ...this.#where, chain, ...written });
    rules.splice(at, 0, { text });
    if (next === undefined) return this.#note(add(rule));
    if (at === 0) return this.#note(insert(rule));
    // What was put in by this very change has no handle to refer to.
    if (next.listed === undefined) return false;
    return this.#note(insert({ ...rule, position: next.listed.handle }));
  }

  #delete(chain: string, text: string): boolean {
    const rules = this.#rulesOf(chain);
    const at = rules.findIndex((each) => each.text === text);
    const [rule] = at < 0 ? [] : rules.splice(at, 1);
    return rule?.listed !== undefined && this.#note(delete_(rule.listed));
  }
}

/** What is remembered of the ruleset are the same rules in each call: a node has two or more for each pod. */
const savedRule = perObject((rule: ListedRule): SavedRule => {
  const words = readRule(rule);
  if (words !== undefined && isOneLine(words)) return { chain: rule.chain, text: joinWords(words), words };
  const chain = jumpOf(rule);
  const own = ['-m', 'nft', '--handle', String(rule.handle), ...(chain === undefined ? [] : ['-j', chain])];
  return { chain: rule.chain, text: joinWords(own), words: own };
});

/** A rule in its place; what was put in just now is listed nowhere yet. */
interface PlacedRule {
  readonly text: string;
  readonly listed?: ListedRule;
}

const placedRule = perObject((listed: ListedRule): PlacedRule => ({ text: savedRule(listed).text, listed }));

/** Others may have written what no line can hold. */
function isOneLine(words: readonly string[]): boolean {
  return words.every((word) => !/[\n\r\0]/.test(word));
}
