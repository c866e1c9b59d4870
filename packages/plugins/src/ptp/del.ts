/** DEL: everything of the attachment is taken down, with or without its namespace, its result or the links. */
import type { DelCall } from '@heddle/cni/plugin';
import { findHostEnd } from '../interface/veth.ts';
import type { PtpConfig } from './config.ts';

/** See the file's comment. The host's addresses and routes go with its end of the pair. */
export async function del(call: DelCall<PtpConfig>): Promise<void> {
  const { config, host, attachment, ifName, ipam, teardown } = call;
  const inside = await teardown.step(`open the namespace ${call.netnsPath}`, () => call.container);
  // With it goes the container's end, wherever that is.
  await teardown.step(`delete the host's end of ${ifName}`, async () => {
    const end = await findHostEnd(host, attachment);
    if (end !== undefined) await host.links.delete(end.index);
  });
  if (inside !== undefined) await teardown.step(`delete link ${ifName}`, () => inside.links.delete(ifName));
  if (ipam.type !== '') await teardown.step('release the addresses', () => ipam.del());
  if (config.ipMasq) {
    await teardown.step('remove masquerading', async () => {
      const { removeMasquerade } = await import('../interface/host-rules.ts');
      await removeMasquerade(host, attachment);
    });
  }
}
