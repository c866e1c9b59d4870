import { join } from 'node:path';
import { machineId, NODE_CONFIG, underlayOptions } from '@heddle/agent';
import { putSettings } from '@heddle/ipam/blocks';
import { findUnderlay } from '@heddle/routing';
import { type Cli, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { applySteps } from '../install/apply.ts';
import { FIRST_NETWORK_FILE } from '../install/first-network.ts';
import { installLock } from '../install/own-files.ts';
import { type Plan, planInstall } from '../install/plan.ts';
import { presentAt, sha256 } from '../install/present.ts';
import { networkDir, situationOf } from '../install/situation.ts';
import { ownProgram } from '../lab/program.ts';
import { startAgent } from '../node/agent-process.ts';
import { reachStore } from '../node/cluster-store.ts';
import { configFile, desiredConfig, writeConfig } from '../node/config-file.ts';
import { UP_FLAGS, type UpFlags } from '../node/flags.ts';
import { chosenMode } from '../node/mode.ts';
import { clusterNetwork } from '../node/network.ts';
import { checkSubnets, ensurePools } from '../node/pools.ts';
import { refuseTakenName } from '../node/taken-name.ts';
import { emit } from '../output/emit.ts';

/** `heddle up`. */
export const upCommand = defineCommand<UpFlags, []>({
  name: 'up',
  group: 'Set up this node',
  brief: 'make this machine a node of a cluster network',
  about: [
    'Joins the cluster whose nodes find each other in --store: with a file that is this machine alone, with etcd all that use ' +
      'it. Every pod of every node reaches every other one, over IPv4 and IPv6. Makes the pools that addresses come from where ' +
      'there are none, installs the plugins and the network of the cluster, and starts the agent.',
    'It can be run again at any time: what was said before stays, an agent that runs hands over to a new one without a gap, ' +
      'pods keep their traffic. Where something is wrong, a range that overlaps, a store that does not answer, a name that is ' +
      'taken, nothing is changed.',
  ],
  examples: [
    { command: 'heddle up', what: 'makes this machine a cluster of one' },
    {
      command: 'heddle up --store etcd://192.0.2.1:2379,192.0.2.2:2379,192.0.2.3:2379',
      what: 'joins a cluster',
    },
    {
      command: 'heddle up --pool 10.42.0.0/16 --encapsulation always',
      what: 'chooses the range of addresses, as the first node, and wraps all packets between nodes',
    },
    {
      command: 'heddle up --keep-ahead 16',
      what: 'has every node claim blocks before it needs them, so that 16 addresses are free on each at any time',
    },
  ],
  usage: '[--store url] [--name name] [flag]...',
  json: `interface Output {
  node: string;
  store: string;
  config: string; // the file
  poolsMade: string[];
  agent: number | null; // its process; null with --no-start
}`,
  parameters: { flags: UP_FLAGS },
  async run(cli, flags) {
    const config = desiredConfig(cli, flags);
    const file = configFile(cli, flags);
    const program = flags.start ? ownProgram(cli) : undefined;
    await using store = await reachStore(config);
    const instance = config.instance ?? machineId();
    await refuseTakenName(store, config.name, instance);
    using session = cli.openHost();
    await findUnderlay(session, underlayOptions(config));
    using _lock = installLock(cli.places.pluginDir);
    const plan = await planNetwork(cli);
    if (plan.inTheWay.length > 0) return refuse(cli, plan);
    const isFirst = await checkSubnets(store, config, flags);
    const mode = await chosenMode(store, config, flags);
    const poolsMade = await ensurePools(store, session, config, flags);
    if (isFirst) await putSettings(store, { mode: 'node-subnets' });
    else if (mode !== undefined) await putSettings(store, mode);
    writeConfig(file, config);
    applySteps(plan.steps);
    const agent = program && (await startAgent(cli, program, file));
    emit(
      cli,
      flags,
      () => ({ node: config.name, store: config.store, config: file, poolsMade, agent: agent?.pid ?? null }),
      () => summary(config, { poolsMade, agent: agent?.pid, file }),
    );
    return EXIT.OK;
  },
});

function summary(
  { name, store }: { readonly name: string; readonly store: string },
  done: {
    readonly poolsMade: readonly string[];
    readonly agent: number | undefined;
    readonly file: string;
  },
): string {
  const { poolsMade, agent, file } = done;
  return [
    `node ${name} is in the cluster at ${store}`,
    ...(poolsMade.length === 0
      ? []
      : [`made ${poolsMade.length === 1 ? 'pool' : 'pools'} ${poolsMade.join(', ')}`]),
    ...(agent === undefined
      ? [
          `no agent was started, and pods wait for one: heddle agent --node ${file}`,
          ...(file === NODE_CONFIG
            ? ['under systemd, with deploy/systemd installed: systemctl enable --now heddle-agent.service']
            : []),
        ]
      : [`the agent is process ${agent}`]),
    '',
  ].join('\n');
}

/** The plugins as clients of the agent, and the network of the cluster in the place of the first one. */
async function planNetwork(cli: Cli): Promise<Plan> {
  const flags = { agent: true, network: false };
  const situation = await situationOf(cli, flags, cli.places.pluginDir);
  const text = clusterNetwork();
  const content = { text, sha256: sha256(text), mode: 0o644 };
  const path = join(networkDir(cli, flags), FIRST_NETWORK_FILE);
  const found = presentAt(path);
  if (found.kind !== 'nothing' && !(found.kind === 'file' && found.sha256 === content.sha256)) {
    return { steps: [], inTheWay: [path] };
  }
  return planInstall({ ...situation, network: { path, content, others: [] } });
}

function refuse({ stderr }: Cli, { inTheWay }: Plan): number {
  for (const path of inTheWay) stderr.write(`heddle: in the way: ${path}\n`);
  stderr.write(
    '  hint: nothing was changed; move these away, `heddle uninstall` does with what heddle install has made\n',
  );
  return EXIT.IN_THE_WAY;
}
