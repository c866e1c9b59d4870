/** STATUS: whether an ADD would find what it needs. */
import type { StatusCall } from '@heddle/cni/plugin';
import { requireLinkKind } from '../interface/kernel-support.ts';
import { type DummyConfig, requireIpam } from './config.ts';

/** @throws {UnavailableError} code 50 when the kernel has no such links; else what address management says */
export async function status({ config, host, ipam }: StatusCall<DummyConfig>): Promise<void> {
  requireIpam(config);
  await requireLinkKind(host, 'dummy');
  await ipam.status();
}
