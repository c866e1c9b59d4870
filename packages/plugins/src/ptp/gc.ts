/** GC: takes down what belongs to attachments of this network that nobody knows any more. */
import { aliasTag, type GcCall } from '@heddle/cni/plugin';
import type { PtpConfig } from './config.ts';

/** See the file's comment. Links and rules whose owner is another network's are left alone. */
export async function gc(call: GcCall<PtpConfig>): Promise<void> {
  const { host, ipam, teardown } = call;
  await teardown.step('delete stale links', async () => {
    const stale = await call.stale(
      () => host.links.list({ kind: 'veth' }),
      ({ alias }) => aliasTag(alias),
    );
    for (const { name, index } of stale) {
      await teardown.step(`delete link ${name}`, () => host.links.delete(index));
    }
  });
  const { gcMasquerade } = await import('../interface/host-rules.ts');
  await teardown.step('remove stale masquerading', () => gcMasquerade(host, call));
  if (ipam.type !== '') await teardown.step('release stale addresses', () => ipam.gc());
}
