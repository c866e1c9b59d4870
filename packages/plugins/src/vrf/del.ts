/** DEL: the interface is in the VRF no more; with its last interface the VRF goes too. */
import type { DelCall } from '@heddle/cni/plugin';
import type { KernelSession } from '@heddle/netlink';
import { withNetnsLock } from '../interface/netns-lock.ts';
import type { VrfConfig } from './config.ts';
import { deleteIfEmpty, vrfOf } from './device.ts';

type Call = DelCall<VrfConfig>;

/** See the file's comment. Without the namespace there is nothing left to do. */
export async function del(call: Call): Promise<void> {
  const { teardown } = call;
  const container = await teardown.step(`open the namespace ${call.netnsPath}`, () => call.container);
  if (container === undefined) return;
  await teardown.step('take the interface out of its VRF', () =>
    withNetnsLock(container.handle, () => removePort(call, container)),
  );
}

async function removePort({ config, ifName, teardown }: Call, container: KernelSession): Promise<void> {
  const device = await container.links.find(config.vrfname);
  const vrf = device && vrfOf(device);
  if (vrf === undefined) return;
  const link = await container.links.find(ifName);
  if (link?.master === vrf.index) {
    await teardown.step(`take ${ifName} out of ${vrf.name}`, () =>
      container.links.set(link.index, { master: 0 }),
    );
  }
  await teardown.step(`delete link ${vrf.name}`, () => deleteIfEmpty(container, vrf.index));
}
