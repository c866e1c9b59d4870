/** GC: releases the addresses of attachments that nobody knows any more. Their devices went with the containers. */
import type { GcCall } from '@heddle/cni/plugin';
import type { TapConfig } from './config.ts';

/** See the file's comment. */
export async function gc({ ipam, teardown }: GcCall<TapConfig>): Promise<void> {
  if (ipam.type !== '') await teardown.step('release stale addresses', () => ipam.gc());
}
