/**
 * GC: releases the addresses of attachments that nobody knows any more. Nothing else is ever outside the
 * container, and what is inside goes with it.
 */
import type { GcCall } from '@heddle/cni/plugin';
import { hasIpam, type StackedConfig } from './config.ts';

/** See the file's comment. */
export async function gcStacked(call: GcCall<StackedConfig>): Promise<void> {
  if (hasIpam(call.config)) await call.teardown.step('release stale addresses', () => call.ipam.gc());
}
