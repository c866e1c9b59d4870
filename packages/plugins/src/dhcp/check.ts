import { CNI_CODE, CniError } from '@heddle/cni';
import type { CheckCall } from '@heddle/cni/plugin';
import { Prefix } from '@heddle/netaddr';
import { reportDrift } from '../interface/findings.ts';
import type { DhcpConfig } from './config.ts';
import { ask, ownerOf, requestOf } from './leases.ts';

/**
 * CHECK: the daemon keeps a lease of the attachment, it is alive, and it is of an address of the result.
 *
 * When the daemon knows of none, it asks the servers for one of the very address: that is how leases are taken over
 * from a daemon that kept them in its memory, as the reference's does.
 */
export async function check(call: CheckCall<DhcpConfig>): Promise<void> {
  const { ifName, prevResult } = call;
  const ips = (prevResult?.ips ?? []).map(({ address }) => Prefix.parse(address));
  const found = await ask(call, { ask: 'find', owner: ownerOf(call) });
  if (found === null) {
    await takeOver(
      call,
      ips.find(({ family }) => family === 4),
    );
    return;
  }
  const { state, lease } = found;
  const { prefix } = lease;
  if (state === 'expired') reportDrift([`the lease of ${prefix.addr} has expired, and was not given again`]);
  if (state === 'refused') reportDrift([`no server lets ${ifName} keep ${prefix.addr}`]);
  if (ips.length > 0 && !ips.some((ip) => ip.equals(prefix))) {
    reportDrift([`the lease of ${ifName} is of ${prefix}, but the result has ${ips.join(', ')}`]);
  }
}

async function takeOver(call: CheckCall<DhcpConfig>, prefix: Prefix | undefined): Promise<void> {
  const { ifName, containerID } = call;
  const missing = `dhcp: no lease is kept for ${ifName} of container ${containerID}`;
  if (prefix === undefined) throw new CniError(CNI_CODE.DRIFT, missing);
  try {
    await ask(call, { ask: 'adopt', ...requestOf(call), prefix: `${prefix}` });
    call.warn(`no lease was kept for ${ifName} of container ${containerID}: took over ${prefix}`);
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    throw new CniError(CNI_CODE.DRIFT, missing, { cniDetails: error.msg, cause: error });
  }
}
