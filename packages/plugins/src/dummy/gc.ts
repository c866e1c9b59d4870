/** GC: releases the addresses of attachments that nobody knows any more. Their links went with the containers. */
import type { GcCall } from '@heddle/cni/plugin';
import type { DummyConfig } from './config.ts';

/** See the file's comment. */
export async function gc({ ipam, teardown }: GcCall<DummyConfig>): Promise<void> {
  if (ipam.type !== '') await teardown.step('release stale addresses', () => ipam.gc());
}
