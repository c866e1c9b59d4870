/**
 * Chains that the reference, or our iptables backends, left: taken away whichever kind of iptables wrote them.
 *
 * What iptables-nft wrote are nftables objects like others. They are found and deleted by netlink, so that a DEL that
 * has nothing to do starts no process, and works where iptables is not installed any more. Only the legacy kind needs
 * its programs, and only where the kernel has a legacy nat table at all.
 */
import { chain as chainOf, delete_, flush, type KernelSession } from '@heddle/netlink';
import { hasLegacyTable } from '../iptables/kind.ts';
import { programsIn } from '../iptables/programs.ts';
import { legacySuffix, restoreTable } from '../iptables/restore.ts';
import type { IptablesTable } from '../iptables/table.ts';
import { jumpOf } from '../iptables-nft/read-rule.ts';
import { commitPlanned } from '../owned-elements.ts';

/** A chain to take away. */
export interface Leftover {
  readonly chain: string;
  /** The chain that leads to it. */
  readonly referrer: string;
  /** The lines that take it away from a legacy table. */
  readonly plan: (table: IptablesTable) => readonly string[];
}

/**
 * Takes a chain away from the nat tables of both families, together with the rules that lead to it.
 *
 * @param tables which tables there are, as `tablesOf` gives them
 */
export async function removeIptablesChain(
  host: KernelSession,
  tables: ReadonlySet<string>,
  leftover: Leftover,
): Promise<void> {
  for (const family of ['ip', 'ip6'] as const) {
    if (tables.has(`${family} nat`)) await removeNftChain(host, family, leftover);
  }
  for (const family of [4, 6] as const) {
    if (hasLegacyTable(host, family, 'nat')) await removeLegacyChain(host, family, leftover.plan);
  }
}

async function removeNftChain(
  host: KernelSession,
  family: 'ip' | 'ip6',
  { chain, referrer }: Leftover,
): Promise<void> {
  const table = { family, table: 'nat' };
  await commitPlanned(host, async () => {
    // Chains of the reference are never without rules: none means that there is no such chain.
    if ((await host.nft.rules({ ...table, chain })).length === 0) return [];
    const entries = (await host.nft.rules({ ...table, chain: referrer })).filter(
      (rule) => jumpOf(rule) === chain,
    );
    const object = chainOf({ ...table, name: chain });
    return [...entries.map(delete_), flush(object), delete_(object)];
  });
}

async function removeLegacyChain(host: KernelSession, family: 4 | 6, plan: Leftover['plan']): Promise<void> {
  const port = programsIn(host);
  const change = { family, table: 'nat', chains: [], plan } as const;
  await restoreTable(port, change, legacySuffix(port, family));
}
