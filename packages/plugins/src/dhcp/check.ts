import { CNI_CODE, CniError } from '@heddle/cni';
import type { CheckCall } from '@heddle/cni/plugin';
import { Prefix } from '@heddle/netaddr';
import { reportDrift } from '../interface/findings.ts';
import type { DhcpConfig } from './config.ts';
import { ask, ownerOf } from './leases.ts';

/** CHECK: the daemon keeps a lease of the attachment, it is alive, and it is of an address of the result. */
export async function check(call: CheckCall<DhcpConfig>): Promise<void> {
  const { ifName, containerID, prevResult } = call;
  const found = await ask(call, { ask: 'find', owner: ownerOf(call) });
  if (found === null) {
    throw new CniError(CNI_CODE.DRIFT, `dhcp: no lease is kept for ${ifName} of container ${containerID}`);
  }
  const { state, lease } = found;
  const { prefix } = lease;
  if (state === 'expired') reportDrift([`the lease of ${prefix.addr} has expired, and was not given again`]);
  if (state === 'refused') reportDrift([`no server lets ${ifName} keep ${prefix.addr}`]);
  const ips = (prevResult?.ips ?? []).map(({ address }) => Prefix.parse(address));
  if (ips.length > 0 && !ips.some((ip) => ip.equals(prefix))) {
    reportDrift([`the lease of ${ifName} is of ${prefix}, but the result has ${ips.join(', ')}`]);
  }
}
