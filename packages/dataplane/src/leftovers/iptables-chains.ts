/**
 * Chains that the reference, or our iptables backends, left: taken away whichever kind of iptables wrote them.
 *
 * What iptables-nft wrote are nftables objects like others. They are found and deleted by netlink, so that a DEL that
 * has nothing to do starts no process, and works where iptables is not installed any more. Only the legacy kind needs
 * its programs, and only where the kernel has a legacy nat table at all.
 */
import { chain as chainOf, delete_, flush, type KernelSession, type ListedRule } from '@heddle/netlink';
import { readFileIn, SysError } from '@heddle/sys';
import { changeNatTable, type Kind, type NatTable } from '../iptables/nat-table.ts';
import { type IptablesPort, programsIn } from '../iptables/programs.ts';
import { commitPlanned } from '../owned-elements.ts';

/** A chain to take away. */
export interface Leftover {
  readonly chain: string;
  /** The chain that leads to it. */
  readonly referrer: string;
  /** The lines that take it away from a legacy table. */
  readonly plan: (table: NatTable) => readonly string[];
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
    if (hasLegacyNat(host, family)) await removeLegacyChain(programsIn(host), family, leftover.plan);
  }
}

/** The chain that a rule of nftables leads to. */
export function jumpOf({ expressions }: ListedRule): string | undefined {
  for (const each of expressions) {
    if (each.expr === 'immediate' && each.data?.verdict?.chain !== undefined) return each.data.verdict.chain;
  }
  return undefined;
}

/** Whether the legacy kind of iptables has a nat table here; looking does not make one. */
export function hasLegacyNat({ handle }: KernelSession, family: 4 | 6): boolean {
  try {
    const path = `/proc/thread-self/net/ip${family === 4 ? '' : '6'}_tables_names`;
    return readFileIn(handle, path).split('\n').includes('nat');
  } catch (error) {
    if (SysError.is(error, 'ENOENT')) return false;
    throw error;
  }
}

/** How the legacy kind's programs are called here: by their own name, where it does not have the usual one. */
export async function legacyKind(port: IptablesPort, family: 4 | 6): Promise<Kind> {
  const named = await port.run([family === 4 ? 'iptables-legacy' : 'ip6tables-legacy', '--version']);
  return named === undefined ? '' : '-legacy';
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

async function removeLegacyChain(port: IptablesPort, family: 4 | 6, plan: Leftover['plan']): Promise<void> {
  await changeNatTable(port, family, plan, await legacyKind(port, family));
}
