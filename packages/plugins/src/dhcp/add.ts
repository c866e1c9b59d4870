import { resolve } from 'node:path';
import type { Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import { type DhcpConfig, providedOptions, requestedOptions } from './config.ts';
import { ask, giveBack, ownerOf } from './leases.ts';
import type { Places } from './places.ts';
import { leaseResult } from './result.ts';

/** ADD: has the daemon get a lease. */
export async function add(call: AddCall<DhcpConfig>, places: Places): Promise<Result> {
  const { config, netnsPath, cniArgs } = call;
  const owner = ownerOf(call);
  call.undo.push('give the lease back', () => giveBack(call, owner, places));
  const lease = await ask(call, {
    ask: 'acquire',
    owner,
    // The daemon has another working directory.
    netns: resolve(netnsPath),
    provide: providedOptions(config, cniArgs),
    parameters: requestedOptions(config),
  });
  return leaseResult(lease, config.ipam?.priority ?? 0);
}
