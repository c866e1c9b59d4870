/**
 * bandwidth: limits how fast a container may receive and send. A chained plugin for containers with a veth pair;
 * the limits are in the configuration or come from the runtime by the capability `bandwidth`.
 */
import { versionsFrom } from '@heddle/cni';
import { aliasTag, definePlugin, type GcCall, type StatusCall } from '@heddle/cni/plugin';
import { requireLinkKind, requireQdisc } from '../interface/kernel-support.ts';
import { add } from './add.ts';
import { check } from './check.ts';
import { type BandwidthConfig, bandwidthConfig, limitsOf } from './config.ts';
import { del } from './del.ts';

/** The bandwidth plugin. */
export const bandwidth = definePlugin({
  type: 'bandwidth',
  kind: 'meta',
  about: 'limits how fast a container receives and sends',
  versions: versionsFrom('0.3.0'),
  config: bandwidthConfig,
  capabilities: ['bandwidth'],
  add,
  del,
  check,
  gc,
  status,
});

/** The limits of a veth pair go with it; an ifb device does not. */
async function gc(call: GcCall<BandwidthConfig>): Promise<void> {
  const { host, teardown } = call;
  await teardown.step('delete stale ifb devices', async () => {
    const stale = await call.stale(
      () => host.links.list({ kind: 'ifb' }),
      ({ alias }) => aliasTag(alias),
    );
    for (const { name, index } of stale) {
      await teardown.step(`delete link ${name}`, () => host.links.delete(index));
    }
  });
}

/** @throws {UnavailableError} code 50 when the kernel cannot shape; {@link ConfigError} for impossible limits */
async function status({ config, host }: StatusCall<BandwidthConfig>): Promise<void> {
  limitsOf(config);
  await requireQdisc(host, 'tbf');
  await requireLinkKind(host, 'ifb');
}
