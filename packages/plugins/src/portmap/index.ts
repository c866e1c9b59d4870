/**
 * portmap: publishes ports of a container on the node. A chained plugin; the ports come from the runtime by the
 * capability `portMappings`.
 */
import { type CheckCall, definePlugin, type StatusCall } from '@heddle/cni/plugin';
import { checkPortMaps, gcPortMaps, type NatBackend, requirePortMaps } from '@heddle/dataplane';
import { requirePrevResult } from '../interface/findings.ts';
import { findingsOf } from '../interface/masquerade.ts';
import { add } from './add.ts';
import { type PortmapConfig, portMapOptions, portmapConfig } from './config.ts';
import { del } from './del.ts';
import { publishedBy } from './published.ts';

/** The portmap plugin. */
export const portmap = definePlugin({
  type: 'portmap',
  kind: 'meta',
  about: 'publishes ports of a container on the node',
  config: portmapConfig,
  capabilities: ['portMappings'],
  add,
  del,
  check,
  gc: async (call) => {
    await call.teardown.step('unpublish stale ports', () => gcPortMaps(call.host, call));
  },
  status,
});

async function check(call: CheckCall<PortmapConfig>): Promise<void> {
  const { config, host, attachment, ifName, prevResult } = call;
  const options = portMapOptions(config);
  const maps = publishedBy(config, ifName, requirePrevResult(prevResult));
  if (maps.mappings.length === 0) return;
  const check = (backend: NatBackend) => checkPortMaps(host, attachment, maps, { ...options, backend });
  try {
    await check(options.backend);
  } catch (error) {
    // Where nobody chose, the attachment may be the reference's, whose choice is iptables.
    if (config.backend !== '' || (await findingsOf(() => check('iptables'))).length > 0) throw error;
  }
}

/** @throws {UnavailableError} code 50 when the configured backend does not work here */
async function status({ config, host }: StatusCall<PortmapConfig>): Promise<void> {
  await requirePortMaps(host, portMapOptions(config).backend);
}
