/**
 * The tables of iptables, whichever kind the node uses: those of the kind `nft` by netlink, in one transaction for all,
 * those of the kind `legacy` by its programs, one after the other.
 *
 * Others change the same tables at any time, and iptables-nft has no lock. A transaction therefore names the generation
 * of the ruleset that it was planned for; if that has passed by then, the kernel refuses, and everything is planned
 * again from what is there.
 */
import { type KernelSession, NetlinkError, type NftChange } from '@heddle/netlink';
import { changesFor, readNftTable } from '../iptables-nft/table.ts';
import { lockRules } from '../rules-lock.ts';
import { iptablesKind } from './kind.ts';
import { programsIn } from './programs.ts';
import { restoreTable, saveTable } from './restore.ts';
import type { IptablesTable, TableChange, TableView } from './table.ts';

/** Reads a table. @throws {IptablesError} when the table is legacy and its programs fail */
export async function readTable(host: KernelSession, which: TableView): Promise<IptablesTable> {
  const port = programsIn(host);
  const kind = await iptablesKind(host, port, which.family);
  return kind === 'nft' ? readNftTable(host, which) : saveTable(port, which);
}

/**
 * Changes tables.
 *
 * @param alongside plans changes of ours that belong to them: in the same transaction where there is one, else before
 * @throws {IptablesError} when iptables is missing or refuses; {NetlinkError} when the kernel does
 */
export async function changeTables(
  host: KernelSession,
  changes: readonly TableChange[],
  alongside: () => Promise<readonly NftChange[]> = async () => [],
): Promise<void> {
  const port = programsIn(host);
  const byNetlink: TableChange[] = [];
  const byPrograms: TableChange[] = [];
  for (const change of changes) {
    const kind = await iptablesKind(host, port, change.family);
    (kind === 'nft' ? byNetlink : byPrograms).push(change);
  }
  byPrograms.push(...(await changeNftTables(host, byNetlink, alongside)));
  for (const change of byPrograms) await restoreTable(port, change);
}

/**
 * Changes tables of iptables-nft, and what belongs to them, in one transaction. `alongside` is asked before any `plan`.
 *
 * @returns the changes that only the programs can make
 */
export async function changeNftTables(
  host: KernelSession,
  changes: readonly TableChange[],
  alongside: () => Promise<readonly NftChange[]> = async () => [],
): Promise<readonly TableChange[]> {
  for (let attempt = 1; ; attempt++) {
    using _lock = await lockRules(host);
    const generation = await host.nft.generation();
    const planned = [...(await alongside())];
    const others: TableChange[] = [];
    for (const change of changes) {
      const table = await readNftTable(host, change);
      const own = changesFor(table, change.plan(table));
      if (own === undefined) others.push(change);
      else planned.push(...own);
    }
    try {
      await host.nft.commit(planned, { generation });
      return others;
    } catch (error) {
      if (attempt === ATTEMPTS || !NetlinkError.is(error, 'ERESTART')) throw error;
    }
  }
}

/** Everybody who is faster makes one more; a planning takes a millisecond or two. */
const ATTEMPTS = 100;
