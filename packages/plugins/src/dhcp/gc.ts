import type { GcCall } from '@heddle/cni/plugin';
import type { DhcpConfig } from './config.ts';
import { giveBack, leaseOwners } from './leases.ts';
import type { Places } from './places.ts';

/** GC: gives the leases of attachments back that are no longer valid. */
export async function gc(call: GcCall<DhcpConfig>, places: Places): Promise<void> {
  const stale = await call.stale(
    () => leaseOwners(call, places),
    ({ containerID, ifName }) => ({ containerID, ifName }),
  );
  for (const owner of stale) {
    const what = `give the lease of ${owner.containerID} back`;
    await call.teardown.step(what, () => giveBack(call, owner, places));
  }
}
