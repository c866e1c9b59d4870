import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withdrawRouting } from '@heddle/routing';
import { type Cli, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { FIRST_NETWORK_FILE } from '../install/first-network.ts';
import { presentAt, sha256 } from '../install/present.ts';
import { takeInventory } from '../inventory/collect.ts';
import { restoreFormer } from '../migrate/apply.ts';
import { configFile, ownConfig } from '../node/config-file.ts';
import { CONFIG_FLAGS, type ConfigFlags } from '../node/flags.ts';
import { leaveCluster } from '../node/leave.ts';
import { CLUSTER_NETWORK, clusterNetwork } from '../node/network.ts';
import { emit } from '../output/emit.ts';
import { CommandError } from '../output/report-error.ts';
import { configDir } from '../request/environment.ts';

interface DownFlags extends ConfigFlags {
  readonly force?: boolean;
}

/** `heddle down`. */
export const downCommand = defineCommand<DownFlags, []>({
  name: 'down',
  group: 'Set up this node',
  brief: 'take this node out of its cluster',
  about: [
    'Ends the agent, gives back the addresses and blocks of this node, takes its entry out of the store, and removes the routes, ' +
      'devices and rules of the cluster from this machine, and the network from its configurations. The plugins stay; `heddle ' +
      'uninstall` removes them. A node that was taken over has its former network again.',
    'Refuses while pods are attached to the network of the cluster. With --force it leaves all the same, also when the store ' +
      'does not answer: the other nodes then notice that this one is gone, and take its addresses back after a while.',
  ],
  examples: [{ command: 'heddle down', what: 'leaves the cluster' }],
  usage: '[--force] [--config file]',
  json: `interface Output {
  node: string;
  left: boolean; // false: the store did not answer, with --force
}`,
  parameters: {
    flags: {
      force: {
        kind: 'boolean',
        brief: 'also with pods attached, or without the store',
        optional: true,
        withNegated: false,
      },
      ...CONFIG_FLAGS,
    },
  },
  async run(cli, flags) {
    const config = ownConfig(cli, flags);
    const force = flags.force === true;
    const { attachments } = await takeInventory(cli, {});
    const pods = attachments.filter(({ network }) => network === CLUSTER_NETWORK);
    if (pods.length > 0 && !force) {
      throw new CommandError(
        EXIT.IN_THE_WAY,
        `nothing was changed: ${pods.length === 1 ? '1 pod is' : `${pods.length} pods are`} attached to ${CLUSTER_NETWORK}`,
        {
          hint: 'heddle ls lists them, heddle del takes them down; --force leaves all the same',
        },
      );
    }
    const left = await leaveCluster(cli, config, force);
    using session = cli.openHost();
    await withdrawRouting(session);
    removeNetwork(cli);
    if (config.former !== undefined) await restoreFormer(cli, config.former, configDir(cli));
    rmSync(configFile(cli, flags), { force: true });
    emit(
      cli,
      flags,
      () => ({ node: config.name, left }),
      () => `node ${config.name} has left its cluster${left ? '' : ', which does not know it yet'}\n`,
    );
    return EXIT.OK;
  },
});

/** Only as it was written. */
function removeNetwork(cli: Cli): void {
  const path = join(configDir(cli), FIRST_NETWORK_FILE);
  const found = existsSync(path) ? presentAt(path) : undefined;
  if (found?.kind === 'file' && found.sha256 === sha256(clusterNetwork())) rmSync(path);
}
