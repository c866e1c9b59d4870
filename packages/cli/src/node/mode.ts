/** How the cluster's nodes come to blocks: as `heddle up` is told. */
import type { WrittenNodeConfig } from '@heddle/agent';
import { type IpamSettings, readCluster } from '@heddle/ipam/blocks';
import type { Store } from '@heddle/store';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';
import type { UpFlags } from './flags.ts';

/**
 * Looks whether the cluster can have the mode that is asked for.
 *
 * @returns the settings to be changed; `undefined` when nothing is said
 * @throws {CommandError} when nodes have subnets of their own
 */
export async function chosenMode(
  store: Store,
  { subnets = [] }: Pick<WrittenNodeConfig, 'subnets'>,
  { keepAhead }: Pick<UpFlags, 'keepAhead'>,
): Promise<Partial<IpamSettings> | undefined> {
  if (keepAhead === undefined) return undefined;
  const { settings } = await readCluster({ store });
  if (settings.mode === 'node-subnets' || subnets.length > 0) {
    throw new CommandError(
      EXIT.FAILED,
      'the nodes of this cluster have subnets of their own, and claim no blocks (mode node-subnets)',
      { hint: 'leave --keep-ahead out' },
    );
  }
  return keepAhead === 0 ? { mode: 'blocks' } : { mode: 'cluster-pool', ahead: keepAhead };
}
