import { machineId, type NodeConfig, underlayOptions } from '@heddle/agent';
import { joinCluster } from '@heddle/routing';
import type { Cli } from '../command.ts';
import { HEDDLE_VERSION } from '../version.ts';
import { stopAgent } from './agent-process.ts';
import { reachStore } from './cluster-store.ts';

/**
 * Ends the agent and takes the node out of its cluster. The store first: as long as it does not answer, everything stays as
 * it is, but with `force`.
 *
 * @returns whether the cluster knows
 * @throws {CommandError|StoreError} when the store does not answer
 */
export async function leaveCluster(cli: Cli, config: NodeConfig, force: boolean): Promise<boolean> {
  const { name, labels } = config;
  try {
    await using store = await reachStore(config);
    await stopAgent(cli);
    using session = cli.openHost();
    const instance = config.instance ?? machineId();
    await using membership = await joinCluster({
      ...{ store, session, name, instance, labels, version: HEDDLE_VERSION },
      underlay: underlayOptions(config),
    });
    await membership.leave();
    return true;
  } catch (error) {
    if (!force) throw error;
    await stopAgent(cli);
    return false;
  }
}
