/** DEL: the device goes, and its addresses are released, whatever is left of them. */
import type { DelCall } from '@heddle/cni/plugin';
import type { TapConfig } from './config.ts';

/** See the file's comment. */
export async function del(call: DelCall<TapConfig>): Promise<void> {
  const { ifName, ipam, teardown } = call;
  const inside = await teardown.step(`open the namespace ${call.netnsPath}`, () => call.container);
  if (inside !== undefined) await teardown.step(`delete link ${ifName}`, () => inside.links.delete(ifName));
  if (ipam.type !== '') await teardown.step('release the addresses', () => ipam.del());
}
