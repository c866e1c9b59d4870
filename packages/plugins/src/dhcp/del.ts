import type { DelCall } from '@heddle/cni/plugin';
import type { DhcpConfig } from './config.ts';
import { giveBack, ownerOf } from './leases.ts';
import type { Places } from './places.ts';

/** DEL: gives the lease back. A lease that nobody knows of has been given back. */
export async function del(call: DelCall<DhcpConfig>, places: Places): Promise<void> {
  await call.teardown.step('give the lease back', () => giveBack(call, ownerOf(call), places));
}
