/**
 * Tables of iptables by its programs, for the legacy kind and for rules that only iptables itself can write.
 *
 * `iptables-restore --noflush` applies its input completely or not at all. Between reading and writing, Heddle keeps
 * itself out by a lock; others may come in between, in which case the input no longer fits (`-N` of a chain that
 * exists by now) and everything is done again from what is there then.
 */
import type { IptablesPort, ProgramResult } from './programs.ts';
import { IptablesError, type IptablesTable, parseTable, type TableChange, type TableRef } from './table.ts';

/** Which programs: those that PATH names, or the legacy ones for certain. */
export type Suffix = '' | '-legacy';

/** Reads a table. @throws {IptablesError} when iptables is missing or fails */
export async function saveTable(
  port: IptablesPort,
  { family, table }: TableRef,
  suffix: Suffix = '',
): Promise<IptablesTable> {
  const program = programOf(family, suffix, 'save');
  const result = await port.run([program, '-t', table]);
  return parseTable(succeeded(result, program, `read the IPv${family} ${table} table`).stdout);
}

/** Changes a table. @throws {IptablesError} when iptables is missing or refuses */
export async function restoreTable(
  port: IptablesPort,
  change: TableChange,
  suffix: Suffix = '',
): Promise<void> {
  const { family, table, plan } = change;
  using _lock = await port.lock();
  let before: string | undefined;
  for (;;) {
    const lines = plan(await saveTable(port, change, suffix));
    if (lines.length === 0) return;
    const input = [`*${table}`, ...lines, 'COMMIT', ''].join('\n');
    const program = programOf(family, suffix, 'restore');
    const result = await port.run([program, '--noflush', '-w'], input);
    if (result?.code === 0) return;
    // The same input again would fail again: only a table that someone changed meanwhile is worth another try.
    if (input === before) succeeded(result, program, `change the IPv${family} ${table} table`);
    before = input;
  }
}

/** How the legacy kind's programs are called here: by their own name, where it does not have the usual one. */
export function legacySuffix(port: IptablesPort, family: 4 | 6): Suffix {
  return port.find(programOf(family, '-legacy', 'save')) === undefined ? '' : '-legacy';
}

function programOf(family: 4 | 6, suffix: Suffix, what: 'save' | 'restore'): string {
  return `${family === 4 ? 'iptables' : 'ip6tables'}${suffix}-${what}`;
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
