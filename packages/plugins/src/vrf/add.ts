/** ADD: the container's interface is in the VRF, which is made for the first one. */
import { CNI_CODE, CniError, ConfigError, type Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import { withNetnsLock } from '../interface/netns-lock.ts';
import type { VrfConfig } from './config.ts';
import { addVrf, findVrf } from './device.ts';
import { belongingsOf, enterVrf, leaveVrf } from './port.ts';

type Call = AddCall<VrfConfig>;

/** See the file's comment. Passes the result on. */
export async function add(call: Call): Promise<Result> {
  const { container, prevResult } = call;
  if (prevResult === undefined) {
    throw new ConfigError('missing prevResult from earlier plugin', { pointer: '/prevResult' });
  }
  await withNetnsLock(container.handle, () => addPort(call));
  return prevResult;
}

async function addPort(call: Call): Promise<void> {
  const { config, container, ifName, undo } = call;
  const link = await container.links.get(ifName);
  const found = await findVrf(container, config);
  if (link.master !== undefined && link.master !== 0) {
    const master = await container.links.find(link.master);
    throw new CniError(
      CNI_CODE.EXISTS,
      `interface ${ifName} has already a master set: ${master?.name ?? link.master}`,
    );
  }
  const vrf = found ?? (await addVrf(call));
  const belongings = await belongingsOf(container, link.index);
  undo.push(`take ${ifName} out of ${vrf.name}`, () => leaveVrf(container, link, belongings));
  await enterVrf(container, link, vrf, belongings);
}
