/** What the firewall's backends need of the node, found out without leaving anything. */
import { UnavailableError } from '@heddle/cni';
import { add, chain, delete_, type KernelSession, NetlinkError, rule, table } from '@heddle/netlink';
import { iptablesKind } from '../iptables/kind.ts';
import { isIptablesUsable } from '../iptables/nat-table.ts';
import { programsIn } from '../iptables/programs.ts';
import { IptablesError } from '../iptables/table.ts';
import { nftFamily } from '../iptables-nft/table.ts';
import { writeRule } from '../iptables-nft/write-rule.ts';
import type { FirewallBackend } from './firewall.ts';
import { Firewalld } from './firewalld.ts';

/**
 * @param bus the socket of the system's message bus
 * @throws {UnavailableError} code 50 when the backend does not work here
 */
export async function requireFirewall(
  host: KernelSession,
  backend: FirewallBackend,
  bus: string,
): Promise<void> {
  switch (backend) {
    case 'firewalld': {
      using firewalld = await Firewalld.find(bus);
      if (firewalld === undefined) throw new UnavailableError('NOT_READY', 'firewalld does not run');
      return;
    }
    case 'nftables':
      await usable('nf_tables', () => host.nft.tables());
      return;
    case 'iptables':
      for (const family of [4, 6] as const) await requireIptables(host, family);
  }
}

async function requireIptables(host: KernelSession, family: 4 | 6): Promise<void> {
  const program = family === 4 ? 'iptables' : 'ip6tables';
  const port = programsIn(host);
  const kind = await usable(program, () => iptablesKind(host, port, family));
  if (kind === 'nft') {
    await usable(`${program} in nf_tables`, () => tryRule(host, family));
  } else if (!(await isIptablesUsable(port, family))) {
    throw new UnavailableError('NOT_READY', `${program} is not usable: it fails to list the filter table`);
  }
}

/** A transaction that takes back what it does: the kernel says whether it knows the extensions, and nobody sees it. */
async function tryRule({ nft }: KernelSession, family: 4 | 6): Promise<void> {
  const where = { family: nftFamily(family), table: 'heddle_try' };
  const words = [
    '-m',
    'comment',
    '--comment',
    'x',
    '-m',
    'conntrack',
    '--ctstate',
    'ESTABLISHED',
    '-j',
    'ACCEPT',
  ];
  const written = writeRule(words, family);
  if (written === undefined) return;
  const whole = table({ family: where.family, name: where.table });
  await nft.commit([
    add(whole),
    add(chain({ ...where, name: 'c' })),
    add(rule({ ...where, chain: 'c', ...written })),
    delete_(whole),
  ]);
}

async function usable<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof NetlinkError) && !(error instanceof IptablesError)) throw error;
    throw new UnavailableError('NOT_READY', `${what} is not usable: ${error.message}`, { cause: error });
  }
}
