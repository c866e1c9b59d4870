/**
 * Packets from and to pods of the cluster are let through where the node would forward nothing by itself
 * (`iptables -P FORWARD DROP`, as Docker and ufw set it), in the filter tables of iptables, of whichever kind the node
 * uses. Nothing of ours in another table could: an accept ends its own table's chain only.
 *
 * ```
 * FORWARD          -j HEDDLE-FORWARD
 * HEDDLE-FORWARD   for each range of pods: all that comes from it, and all that goes to it
 * ```
 *
 * The jump stands behind those of the plugin `firewall`, so that the operator's chain CNI-ADMIN decides before it, and
 * bridges that are kept apart stay so; and in front of the rest.
 */
import type { Prefix } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import { FIREWALL_ENTRIES } from '../firewall/forward-rules.ts';
import { hasLegacyTable } from '../iptables/kind.ts';
import { programsIn } from '../iptables/programs.ts';
import { legacySuffix, restoreTable, saveTable } from '../iptables/restore.ts';
import { joinWords, ruleMeaning, ruleTarget } from '../iptables/rule-text.ts';
import { type IptablesTable, meaningOf, type TableChange } from '../iptables/table.ts';
import { changeNftTables, changeTables, readTable } from '../iptables/tables.ts';
import { nftFamily, readNftTable } from '../iptables-nft/table.ts';
import { tablesOf } from '../tables.ts';

/**
 * Brings the filter tables to these ranges. Of a family that has none, nothing is looked at.
 *
 * @returns how many tables had to be changed
 * @throws {IptablesError} when iptables is missing or refuses; {NetlinkError} when the kernel does
 */
export async function syncClusterForward(host: KernelSession, ranges: readonly Prefix[]): Promise<number> {
  const changes: TableChange[] = [];
  for (const family of FAMILIES) {
    const own = ranges.filter((range) => range.family === family);
    if (own.length === 0) continue;
    const change = tableChange(family, (table) => planForward(own, table));
    // Nobody has to wait for whoever only looks.
    if (change.plan(await readTable(host, change)).length > 0) changes.push(change);
  }
  if (changes.length > 0) await changeTables(host, changes);
  return changes.length;
}

/**
 * Takes the rules away from the tables of either kind.
 *
 * @returns how many tables had to be changed
 * @throws as {@link syncClusterForward} does
 */
export async function removeClusterForward(host: KernelSession): Promise<number> {
  const tables = await tablesOf(host);
  let changes = 0;
  for (const family of FAMILIES) {
    const change = tableChange(family, planRemoval);
    if (hasLegacyTable(host, family, 'filter')) {
      const port = programsIn(host);
      const suffix = legacySuffix(port, family);
      if (planRemoval(await saveTable(port, change, suffix)).length > 0) {
        await restoreTable(port, change, suffix);
        changes++;
      }
    }
    if (!tables.has(`${nftFamily(family)} filter`)) continue;
    if (planRemoval(await readNftTable(host, change)).length === 0) continue;
    await changeNftTables(host, [change]);
    changes++;
  }
  return changes;
}

/** Whether changes by others are not told: the legacy kind's tables have no events. */
export function isForwardUntold(host: KernelSession): boolean {
  return FAMILIES.some((family) => hasLegacyTable(host, family, 'filter'));
}

const FAMILIES = [4, 6] as const;
const CHAIN = 'HEDDLE-FORWARD';
const ENTRY = ['-m', 'comment', '--comment', 'Heddle: pods of the cluster', '-j', CHAIN];

function tableChange(family: 4 | 6, plan: TableChange['plan']): TableChange {
  return { family, table: 'filter', chains: ['FORWARD', CHAIN], plan };
}

function planForward(ranges: readonly Prefix[], table: IptablesTable): readonly string[] {
  const wanted = ranges.flatMap((range) => [
    ['-s', `${range}`, '-j', 'ACCEPT'],
    ['-d', `${range}`, '-j', 'ACCEPT'],
  ]);
  const present = table.rules.filter(({ chain }) => chain === CHAIN).map(meaningOf);
  const isSame = String(present.toSorted()) === String(wanted.map(ruleMeaning).toSorted());
  return [
    ...(table.chains.has(CHAIN) ? [] : [`-N ${CHAIN}`]),
    ...(isSame ? [] : [`-F ${CHAIN}`, ...wanted.map((words) => `-A ${CHAIN} ${joinWords(words)}`)]),
    ...planEntry(table),
  ];
}

function planEntry({ rules }: IptablesTable): readonly string[] {
  const forward = rules.filter(({ chain }) => chain === 'FORWARD');
  const targets = forward.map(({ words }) => ruleTarget(words));
  const behind = Math.max(...FIREWALL_ENTRIES.map((chain) => targets.indexOf(chain)));
  const entries = forward.filter((_, at) => targets[at] === CHAIN);
  const [only] = entries;
  const isRight = only !== undefined && meaningOf(only) === ruleMeaning(ENTRY);
  if (entries.length === 1 && isRight && targets.indexOf(CHAIN) > behind) return [];
  const before = targets.slice(0, behind + 1).filter((target) => target === CHAIN).length;
  return [
    ...entries.map(({ text }) => `-D FORWARD ${text}`),
    `-I FORWARD ${behind - before + 2} ${joinWords(ENTRY)}`,
  ];
}

function planRemoval({ chains, rules }: IptablesTable): readonly string[] {
  const entries = rules.filter(({ chain, words }) => chain === 'FORWARD' && ruleTarget(words) === CHAIN);
  return [
    ...entries.map(({ text }) => `-D FORWARD ${text}`),
    ...(chains.has(CHAIN) ? [`-F ${CHAIN}`, `-X ${CHAIN}`] : []),
  ];
}
