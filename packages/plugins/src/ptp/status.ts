/** STATUS: whether an ADD would find what it needs. */
import type { StatusCall } from '@heddle/cni/plugin';
import { masqueradeBackend } from '../interface/masquerade.ts';
import type { PtpConfig } from './config.ts';

/** @throws {ConfigError} for a backend that nobody knows; else what the address management plugin says */
export async function status({ config, ipam }: StatusCall<PtpConfig>): Promise<void> {
  if (config.ipMasq) masqueradeBackend(config);
  await ipam.status();
}
