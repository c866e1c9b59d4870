/** What the backends need of the node, found out without leaving anything: for STATUS. */
import { UnavailableError } from '@heddle/cni';
import type { KernelSession } from '@heddle/netlink';
import type { FirewallBackend } from './firewall/firewall.ts';
import { Firewalld } from './firewall/firewalld.ts';
import { requireIptables } from './iptables/requirements.ts';
import type { NatBackend } from './masquerade.ts';

/**
 * Finds out whether a backend of the firewall works here.
 *
 * @param bus the socket of the system's message bus
 * @throws {UnavailableError} code 50 when it does not
 */
export async function requireFirewall(
  host: KernelSession,
  backend: FirewallBackend,
  bus: string,
): Promise<void> {
  if (backend === 'firewalld') {
    using firewalld = await Firewalld.find(bus);
    if (firewalld === undefined) throw new UnavailableError('NOT_READY', 'firewalld does not run');
  } else if (backend === 'iptables') {
    const matches = [...COMMENT, '-m', 'conntrack', '--ctstate', 'RELATED,ESTABLISHED'];
    for (const family of [4, 6] as const) await requireIptables(host, { family, table: 'filter' }, matches);
  } else await requireNftables(host);
}

/**
 * Finds out whether a backend of published ports works here.
 *
 * @throws {UnavailableError} code 50 when it does not
 */
export async function requirePortMaps(host: KernelSession, backend: NatBackend): Promise<void> {
  if (backend === 'nftables') return requireNftables(host);
  const matches = ['-p', 'tcp', ...COMMENT, ...['-m', 'addrtype', '--dst-type', 'LOCAL']];
  await requireIptables(host, { family: 4, table: 'nat' }, [...matches, '-m', 'multiport', '--dports', '1']);
}

const COMMENT = ['-m', 'comment', '--comment', 'x'];

async function requireNftables({ nft }: KernelSession): Promise<void> {
  try {
    await nft.tables();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UnavailableError('NOT_READY', `nf_tables is not usable: ${why}`, { cause: error });
  }
}
