/**
 * The two kinds of iptables, whose rules do not meet: `nft` puts them into tables of nftables, `legacy` into tables of
 * its own. Which of them a node uses is the operator's choice, made by what the names in PATH point to.
 */
import { basename } from 'node:path';
import type { KernelSession } from '@heddle/netlink';
import { SysError } from '@heddle/sys';
import type { TableName } from '../iptables-nft/builtin-chains.ts';
import type { IptablesPort } from './programs.ts';
import { IptablesError } from './table.ts';

/** See the file's comment. */
export type IptablesKind = 'nft' | 'legacy';

/**
 * The kind of a family's iptables. Where none is installed nobody has chosen, and `nft` needs no program; unless the
 * kernel has tables of the legacy kind, which only programs can change.
 *
 * @throws {IptablesError} when the tables are legacy, and there is no program
 */
export async function iptablesKind(
  host: KernelSession,
  port: IptablesPort,
  family: 4 | 6,
): Promise<IptablesKind> {
  const program = family === 4 ? 'iptables' : 'ip6tables';
  const path = port.find(program);
  if (path === undefined) {
    if (!hasLegacyTable(host, family, 'filter') && !hasLegacyTable(host, family, 'nat')) return 'nft';
    throw new IptablesError(`the node has tables of legacy ${program}, but no ${program} in PATH`, {
      hint: `install ${program}, or remove the tables: unload the module ${family === 4 ? 'ip' : 'ip6'}_tables`,
    });
  }
  const name = basename(path);
  if (name.includes('nft')) return 'nft';
  if (name.includes('legacy') || OLD.has(name)) return 'legacy';
  // A wrapper by some distribution: it knows itself.
  const said = await port.run([program, '-V']);
  return said?.stdout.includes('nf_tables') ? 'nft' : 'legacy';
}

/** Whether the legacy kind has such a table here; looking does not make one. */
export function hasLegacyTable({ procNet }: KernelSession, family: 4 | 6, table: TableName): boolean {
  try {
    const file = `ip${family === 4 ? '' : '6'}_tables_names`;
    return procNet.read(file).split('\n').includes(table);
  } catch (error) {
    if (SysError.is(error, 'ENOENT')) return false;
    throw error;
  }
}

/** What iptables was called before it had two kinds. */
const OLD: ReadonlySet<string> = new Set(['xtables-multi', 'iptables-multi', 'ip6tables-multi']);
