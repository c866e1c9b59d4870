/** DEL: the interface is in the VRF no more, and has what it had there; with its last interface the VRF goes too. */
import type { DelCall } from '@heddle/cni/plugin';
import type { KernelSession } from '@heddle/netlink';
import { withNetnsLock } from '../interface/netns-lock.ts';
import type { VrfConfig } from './config.ts';
import { deleteIfEmpty, vrfOf } from './device.ts';
import { belongingsOf, inMainTable, leaveVrf } from './port.ts';

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
    const belongings = await teardown.step(`look at what ${ifName} has`, () =>
      belongingsOf(container, link.index),
    );
    await teardown.step(`take ${ifName} out of ${vrf.name}`, () =>
      leaveVrf(container, link, inMainTable(belongings ?? { addresses: [], routes: [] }, vrf)),
    );
  }
  await teardown.step(`delete link ${vrf.name}`, () => deleteIfEmpty(container, vrf.index));
}
