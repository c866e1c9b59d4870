/** GC: devices that came back to the host without a DEL get their names, and stale addresses are released. */
import type { GcCall } from '@heddle/cni/plugin';
import { findReturned } from './away.ts';
import type { HostDeviceConfig } from './config.ts';
import { giveNameBack } from './move.ts';
import { selectorOf } from './selector.ts';
import type { Sysfs } from './sysfs.ts';

/** See the file's comment. A device that is on the host is no container's, whatever is declared valid. */
export async function gc(call: GcCall<HostDeviceConfig>, sysfs: Sysfs): Promise<void> {
  const { config, host, ipam, teardown } = call;
  await teardown.step('name the device that came back', async () => {
    const returned = await findReturned(host, selectorOf(config, sysfs));
    if (returned !== undefined) await giveNameBack(host, returned);
  });
  if (ipam.type !== '') await teardown.step('release stale addresses', () => ipam.gc());
}
