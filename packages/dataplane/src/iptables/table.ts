/** A table of iptables, whichever kind of iptables has it: its chains, and its rules as lines of iptables-save. */
import { HeddleError } from '@heddle/errors';
import type { TableName } from '../iptables-nft/builtin-chains.ts';
import { perObject } from '../per-object.ts';
import { ruleMeaning, splitWords } from './rule-text.ts';

/** Which table. */
export interface TableRef {
  readonly family: 4 | 6;
  readonly table: TableName;
}

/** One rule of a table. */
export interface SavedRule {
  readonly chain: string;
  /** What stands behind `-A <chain>`: good for a `-D`. */
  readonly text: string;
  readonly words: readonly string[];
}

/** What a rule says, as {@link ruleMeaning} tells. */
export const meaningOf: (rule: SavedRule) => string = perObject(({ words }) => ruleMeaning(words));

/** A table as it was read. */
export interface IptablesTable {
  /** Those that iptables has by itself, and those that were asked for and exist. */
  readonly chains: ReadonlySet<string>;
  /** In order within each chain. */
  readonly rules: readonly SavedRule[];
}

/** What to read of a table, which may be large. The legacy kind gives all of it anyway. */
export interface TableView extends TableRef {
  readonly chains: readonly string[];
  /** Of the chains that rules of those lead to, the ones to read as well. */
  readonly follow?: (chain: string) => boolean;
}

/**
 * A change of a table: `plan` gives lines of iptables-restore that lead from what is there, as far as it is to be read,
 * to what should be; none when all is well.
 */
export interface TableChange extends TableView {
  plan(table: IptablesTable): readonly string[];
}

/** A program of iptables that is missing or failed. */
export class IptablesError extends HeddleError {
  override readonly code = 'IPTABLES';
}

/** Reads what `iptables-save -t <table>` printed. */
export function parseTable(saved: string): IptablesTable {
  const chains = new Set<string>();
  const rules: SavedRule[] = [];
  for (const line of saved.split('\n')) {
    const chain = /^:(\S+) /.exec(line)?.[1];
    if (chain !== undefined) chains.add(chain);
    const [, of, text] = /^-A (\S+) (.*)$/.exec(line) ?? [];
    if (of !== undefined && text !== undefined) rules.push({ chain: of, text, words: splitWords(text) });
  }
  return { chains, rules };
}
