/** DEL: takes the container's link and its addresses back, with or without namespace, master, or result. */
import type { DelCall } from '@heddle/cni/plugin';
import { hasIpam, type StackedConfig } from './config.ts';
import type { StackedKind } from './kind.ts';
import { findUnfinished } from './link.ts';

/** See the file's comment. */
export async function delStacked<C extends StackedConfig>(
  call: DelCall<C>,
  { kind }: StackedKind<C>,
): Promise<void> {
  const { config, attachment, ifName, teardown } = call;
  const inside = await teardown.step(`open the namespace ${call.netnsPath}`, () => call.container);
  if (inside !== undefined) {
    await teardown.step(`delete link ${ifName}`, () => inside.links.delete(ifName));
    await teardown.step('delete the link of an unfinished ADD', async () => {
      const link = await findUnfinished(inside, attachment, kind);
      if (link !== undefined) await inside.links.delete(link.index);
    });
  }
  if (hasIpam(config)) await teardown.step('release the addresses', () => call.ipam.del());
}
