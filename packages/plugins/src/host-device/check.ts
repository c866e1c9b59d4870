/** CHECK: the container has the device, as ADD left it. */
import type { CheckCall } from '@heddle/cni/plugin';
import type { Link } from '@heddle/netlink';
import {
  checkLink,
  checkNetworkLayer,
  containerInterface,
  type Findings,
  reportDrift,
  requirePrevResult,
} from '../interface/findings.ts';
import { nameInAlias } from './away.ts';
import type { HostDeviceConfig } from './config.ts';
import { isDpdk } from './selector.ts';
import type { Sysfs } from './sysfs.ts';

/** See the file's comment. All that is different is reported at once. */
export async function check(call: CheckCall<HostDeviceConfig>, sysfs: Sysfs): Promise<void> {
  const { config, container, ifName, ipam } = call;
  if (ipam.type !== '') await ipam.check();
  const result = requirePrevResult(call.prevResult);
  const { index, entry } = containerInterface(result, ifName, call.netnsPath);
  if (isDpdk(config, sysfs)) return;
  const link = await container.links.find(ifName);
  reportDrift([
    ...checkLink(ifName, link, { up: true, mac: entry.mac }),
    ...(link === undefined ? [] : aliasFindings(link)),
    ...(link === undefined ? [] : await checkNetworkLayer(container, link, result, index)),
  ]);
}

/** Without it, DEL would not know what to call the device on the host. */
function aliasFindings(link: Link): Findings {
  if (nameInAlias(link) !== undefined) return [];
  return [`link ${link.name} should have its name on the host as alias, but has ${link.alias ?? 'none'}`];
}
