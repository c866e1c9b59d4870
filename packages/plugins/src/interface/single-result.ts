/** The result of a plugin whose only interface is the container's. */
import { CURRENT_VERSION, type Dns, type Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import type { Mac } from '@heddle/netaddr';

/**
 * The interface and, where address management gave some, its addresses and routes.
 *
 * @param mac absent where the interface has none
 * @param dns whose name resolution the plugin lets the result carry
 */
export function singleResult(
  { ifName, netnsPath }: Pick<AddCall<unknown>, 'ifName' | 'netnsPath'>,
  mac: Mac | undefined,
  given?: Result,
  dns?: Dns,
): Result {
  return {
    cniVersion: CURRENT_VERSION,
    interfaces: [{ name: ifName, ...(mac !== undefined && { mac: `${mac}` }), sandbox: netnsPath }],
    ...(given?.ips !== undefined && { ips: given.ips.map((ip) => ({ ...ip, interface: 0 })) }),
    ...(given?.routes !== undefined && { routes: given.routes }),
    ...(dns !== undefined && { dns }),
  };
}
