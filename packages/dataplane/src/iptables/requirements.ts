/** Whether iptables works here, found out without leaving anything. */
import { UnavailableError } from '@heddle/cni';
import { add, chain, delete_, type KernelSession, NetlinkError, rule, table } from '@heddle/netlink';
import { nftFamily } from '../iptables-nft/table.ts';
import { writeRule } from '../iptables-nft/write-rule.ts';
import { iptablesKind } from './kind.ts';
import { programsIn } from './programs.ts';
import { saveTable } from './restore.ts';
import { IptablesError, type TableRef } from './table.ts';

/**
 * @param matches the extensions that rules will have, in words
 * @throws {UnavailableError} code 50 when iptables is missing where it is needed, or the kernel lacks what it needs
 */
export async function requireIptables(
  host: KernelSession,
  { family, table }: TableRef,
  matches: readonly string[],
): Promise<void> {
  const port = programsIn(host);
  try {
    if ((await iptablesKind(host, port, family)) === 'nft') await tryRule(host, family, matches);
    else await saveTable(port, { family, table });
  } catch (error) {
    if (!(error instanceof NetlinkError) && !(error instanceof IptablesError)) throw error;
    const program = family === 4 ? 'iptables' : 'ip6tables';
    throw new UnavailableError('NOT_READY', `${program} is not usable: ${error.message}`, { cause: error });
  }
}

/** A transaction that takes back what it does: the kernel says whether it knows the extensions, and nobody sees it. */
async function tryRule(
  { nft }: KernelSession,
  family: TableRef['family'],
  matches: readonly string[],
): Promise<void> {
  const where = { family: nftFamily(family), table: 'heddle_try' };
  const written = writeRule([...matches, '-j', 'ACCEPT'], family);
  if (written === undefined) return;
  const whole = table({ family: where.family, name: where.table });
  await nft.commit([
    add(whole),
    add(chain({ ...where, name: 'c' })),
    add(rule({ ...where, chain: 'c', ...written })),
    delete_(whole),
  ]);
}
