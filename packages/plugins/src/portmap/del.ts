/** DEL: unpublishes whatever ports are an attachment's, whoever published them. */
import type { DelCall } from '@heddle/cni/plugin';
import { forgetFlowsTo, type PortMaps, publishedPorts, removePortMaps } from '@heddle/dataplane';
import type { PortmapConfig } from './config.ts';
import { publishedBy } from './published.ts';

/** Needs neither the mappings nor the result; with them, it also forgets connections of the reference's rules. */
export async function del(call: DelCall<PortmapConfig>): Promise<void> {
  const { host, attachment, teardown } = call;
  const removed = await teardown.step('unpublish ports', () => removePortMaps(host, attachment));
  try {
    await forgetFlowsTo(host, publishedPorts(removed ?? [], configured(call)));
  } catch (error) {
    call.warn(
      `old UDP connections to published ports may go on: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** What the configuration says, as far as it can be understood: a DEL is no place to complain about it. */
function configured({ config, ifName, prevResult }: DelCall<PortmapConfig>): PortMaps | undefined {
  try {
    return publishedBy(config, ifName, prevResult);
  } catch {
    return undefined;
  }
}
