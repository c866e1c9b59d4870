/** STATUS: whether an ADD would find what it needs. */
import { UnavailableError } from '@heddle/cni';
import type { StatusCall } from '@heddle/cni/plugin';
import { notABridge } from './bridge-link.ts';
import { type BridgeConfig, hasIpam } from './config.ts';

/** @throws {UnavailableError} code 50 when the bridge's name belongs to something else; else what IPAM says */
export async function status({ config, host, ipam }: StatusCall<BridgeConfig>): Promise<void> {
  const link = await host.links.find(config.bridge);
  if (link !== undefined && link.kind !== 'bridge') {
    const { message, hint } = notABridge(link);
    throw new UnavailableError('NOT_READY', message, { ...(hint !== undefined && { hint }) });
  }
  if (hasIpam(config)) await ipam.status();
}
