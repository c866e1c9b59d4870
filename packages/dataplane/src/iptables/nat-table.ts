/**
 * The nat table as iptables sees it: read whole, changed in one piece.
 *
 * `iptables-restore --noflush` applies its input completely or not at all. Between reading and writing, Heddle keeps
 * itself out by a lock; others may come in between, in which case the input no longer fits (`-N` of a chain that
 * exists by now) and everything is done again from what is there then.
 */
import { HeddleError } from '@heddle/errors';
import type { IptablesPort, ProgramResult } from './programs.ts';
import { splitWords } from './rule-text.ts';

/** The address family of a table. */
export type Family = 4 | 6;

/** One rule of a table. */
export interface SavedRule {
  readonly chain: string;
  /** The rule behind `-A <chain>`, as it was printed: good for a `-D`. */
  readonly text: string;
  readonly words: readonly string[];
}

/** A nat table as it was read. */
export interface NatTable {
  readonly chains: ReadonlySet<string>;
  readonly rules: readonly SavedRule[];
}

/** A program of iptables that is missing or failed. */
export class IptablesError extends HeddleError {
  override readonly code = 'IPTABLES';
}

/** Reads what `iptables-save -t nat` printed. */
export function parseNatTable(saved: string): NatTable {
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

/** Reads the nat table of a family. */
export async function readNatTable(port: IptablesPort, family: Family, kind: Kind = ''): Promise<NatTable> {
  const program = `${family === 4 ? 'iptables' : 'ip6tables'}${kind}-save`;
  const result = await port.run([program, '-t', 'nat']);
  return parseNatTable(succeeded(result, program, `read the IPv${family} nat table`).stdout);
}

/** Which iptables: the one that PATH names, or the legacy one for certain. */
export type Kind = '' | '-legacy';

/**
 * Changes the nat table of a family: `plan` gives the lines that lead from what is there to what should be; none
 * when all is well.
 *
 * @throws {IptablesError} when iptables is missing or refuses.
 */
export async function changeNatTable(
  port: IptablesPort,
  family: Family,
  plan: (table: NatTable) => readonly string[],
  kind: Kind = '',
): Promise<void> {
  using _lock = await port.lock();
  let before: string | undefined;
  for (;;) {
    const lines = plan(await readNatTable(port, family, kind));
    if (lines.length === 0) return;
    const input = ['*nat', ...lines, 'COMMIT', ''].join('\n');
    const program = `${family === 4 ? 'iptables' : 'ip6tables'}${kind}-restore`;
    const result = await port.run([program, '--noflush', '-w'], input);
    if (result?.code === 0) return;
    // The same input again would fail again: only a table that someone changed meanwhile is worth another try.
    if (input === before) succeeded(result, program, `change the IPv${family} nat table`);
    before = input;
  }
}

/**
 * Whether iptables works here, found out as the reference does: by listing a rule of the filter table, where exit
 * code 1 says no more than that there is none.
 */
export async function isIptablesUsable(port: IptablesPort, family: Family = 4): Promise<boolean> {
  const program = family === 4 ? 'iptables' : 'ip6tables';
  const result = await port.run([program, '-w', '-t', 'filter', '-S', 'INPUT', '1']);
  return result !== undefined && (result.code === 0 || result.code === 1);
}

function succeeded(result: ProgramResult | undefined, program: string, what: string): ProgramResult {
  if (result === undefined) {
    throw new IptablesError(`${what}: no ${program} in PATH`, {
      hint: 'install iptables, or use the nftables backend, which needs no program',
    });
  }
  if (result.code === 0) return result;
  const said = result.stderr.trim().split('\n')[0];
  throw new IptablesError(`${what}: ${program} exited with ${result.code}: ${said}`, {
    details: { ...result },
  });
}
