/** DEL: everything of the attachment is taken down, with or without its namespace, its result or the links. */
import { type DelCall, isAbsent } from '@heddle/cni/plugin';
import type { ClusterAddresses } from '@heddle/ipam/cluster';
import { findHostEnd } from '../interface/veth.ts';
import type { HeddleConfig } from './config.ts';

/** See the file's comment. The host's routes go with its end of the pair. */
export async function del(call: DelCall<HeddleConfig>, source: ClusterAddresses): Promise<void> {
  const { host, attachment, ifName, teardown } = call;
  const inside = await teardown.step(`open the namespace ${call.netnsPath}`, () => call.container);
  const isDown = await teardown.step(`delete the host's end of ${ifName}`, async () => {
    const end = await findHostEnd(host, attachment);
    if (end !== undefined) await gone(() => host.links.delete(end.index));
    return true;
  });
  if (inside !== undefined) await teardown.step(`delete link ${ifName}`, () => inside.links.delete(ifName));
  // While the pod may still use its addresses, nobody else must get them.
  if (isDown) await teardown.step('give the addresses back', () => source.give(attachment));
}

async function gone(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}
