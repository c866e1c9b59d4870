/** GC: takes down what belongs to attachments of this network that nobody knows any more. */
import { aliasTag, type GcCall } from '@heddle/cni/plugin';
import type { ClusterAddresses } from '@heddle/ipam/cluster';
import { giveStale } from '../cluster/verbs.ts';
import type { HeddleConfig } from './config.ts';

/** See the file's comment. Links whose owner is another network's are left alone. */
export async function gc(call: GcCall<HeddleConfig>, source: ClusterAddresses): Promise<void> {
  const { host, teardown } = call;
  await teardown.step('delete stale links', async () => {
    const stale = await call.stale(
      () => host.links.list({ kind: 'veth' }),
      ({ alias }) => aliasTag(alias),
    );
    for (const { name, index } of stale) {
      await teardown.step(`delete link ${name}`, () => host.links.delete(index));
    }
  });
  await teardown.step('give stale addresses back', () => giveStale(call, source));
}
