import type { Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import type { DhcpConfig } from './config.ts';
import { ask, giveBack, ownerOf, requestOf } from './leases.ts';
import type { Places } from './places.ts';
import { leaseResult } from './result.ts';

/** ADD: has the daemon get a lease. */
export async function add(call: AddCall<DhcpConfig>, places: Places): Promise<Result> {
  call.undo.push('give the lease back', () => giveBack(call, ownerOf(call), places));
  const lease = await ask(call, { ask: 'acquire', ...requestOf(call) });
  return leaseResult(lease, call.config.ipam?.priority ?? 0);
}
