/** GC: takes down what belongs to attachments of this network that nobody knows any more. */
import { aliasTag, type GcCall } from '@heddle/cni/plugin';
import { type BridgeConfig, hasIpam } from './config.ts';

/** See the file's comment. Links whose owner is another network's are left alone, and so are others' rules. */
export async function gc(call: GcCall<BridgeConfig>): Promise<void> {
  const { config, host, teardown } = call;
  await teardown.step('delete stale links', async () => {
    const bridge = await host.links.find(config.bridge);
    if (bridge === undefined) return;
    const stale = await call.stale(
      () => host.links.list({ master: bridge.index, kind: 'veth' }),
      ({ alias }) => aliasTag(alias),
    );
    for (const { name, index } of stale) {
      await teardown.step(`delete link ${name}`, () => host.links.delete(index));
    }
  });
  const { gcMasquerade, gcSpoofCheck } = await import('../interface/host-rules.ts');
  await teardown.step('remove stale masquerading', () => gcMasquerade(host, call));
  await teardown.step('remove stale checks of source addresses', () => gcSpoofCheck(host, call));
  if (hasIpam(config)) await teardown.step('release stale addresses', () => call.ipam.gc());
}
