/** STATUS: whether an ADD would find what it needs. */
import { toCniError, UnavailableError } from '@heddle/cni';
import type { StatusCall } from '@heddle/cni/plugin';
import type { Link } from '@heddle/netlink';
import { requireLinkKind } from '../interface/kernel-support.ts';
import { hasIpam, type StackedConfig } from './config.ts';
import type { StackedKind } from './kind.ts';
import { checkMtu, findMaster } from './master.ts';

/**
 * What a container has cannot be known beforehand, so only a master on the host is looked at.
 *
 * @throws {UnavailableError} code 50 when the kernel has no such links, when there is no master, or one of too
 *   small an MTU; 51 when it is down; else what IPAM says
 */
export async function statusOfStacked<C extends StackedConfig>(
  call: StatusCall<C>,
  kind: StackedKind<C>,
): Promise<void> {
  const { config, host } = call;
  await requireLinkKind(host, kind.kind);
  const isKnown = config.master !== '' || kind.impliedMaster === undefined;
  if (!config.linkInContainer && isKnown) {
    const { name, up } = await usableMaster(call);
    if (!up) throw new UnavailableError('LIMITED_CONNECTIVITY', `master ${name} is down`);
  }
  if (hasIpam(config)) await call.ipam.status();
}

async function usableMaster<C extends StackedConfig>({ config, host }: StatusCall<C>): Promise<Link> {
  try {
    const master = await findMaster(host, config.master, 'on the host');
    checkMtu(config.mtu, master);
    return master;
  } catch (cause) {
    const { msg, hint } = toCniError(cause);
    throw new UnavailableError('NOT_READY', msg, { cause, ...(hint !== undefined && { hint }) });
  }
}
