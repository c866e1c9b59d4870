import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { machineId, underlayOptions, type WrittenNodeConfig } from '@heddle/agent';
import { findUnderlay } from '@heddle/routing';
import type { Store } from '@heddle/store';
import { type Cli, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { FIRST_NETWORK_FILE } from '../install/first-network.ts';
import { installLock } from '../install/own-files.ts';
import { planInstall, type Step } from '../install/plan.ts';
import { presentAt, sha256 } from '../install/present.ts';
import { situationOf } from '../install/situation.ts';
import { ownProgram } from '../lab/program.ts';
import { applyMigration, type MigrationPlaces } from '../migrate/apply.ts';
import { finishMigration } from '../migrate/finish.ts';
import { asidePath, type Former, readFormer, refusal, SOURCES, type Source } from '../migrate/former.ts';
import { planMigration } from '../migrate/plan.ts';
import { planJson, planText } from '../migrate/text.ts';
import { reachStore } from '../node/cluster-store.ts';
import { configFile, desiredConfig, ownConfig } from '../node/config-file.ts';
import { JOIN_FLAGS, type JoinFlags, NEW_POOL_FLAGS, type NewPoolFlags } from '../node/flags.ts';
import { clusterNetwork } from '../node/network.ts';
import { refuseTakenName } from '../node/taken-name.ts';
import { emit } from '../output/emit.ts';
import { configDir } from '../request/environment.ts';

interface MigrateFlags extends JoinFlags, Partial<NewPoolFlags> {
  readonly network?: string;
  readonly dryRun?: boolean;
  readonly finish?: boolean;
  readonly force?: boolean;
}

const { encapsulation, overlay, natOutgoing } = NEW_POOL_FLAGS;
/** What is not said is as the former network has it. */
const optional = <T extends object>(flag: T) => {
  const { default: _, ...rest } = flag as T & { default?: unknown };
  return { ...rest, optional: true } as const;
};

/** `heddle migrate`. */
export const migrateCommand = defineCommand<MigrateFlags, [Source]>({
  name: 'migrate',
  group: 'Set up this node',
  brief: 'take a node over from Flannel, or from host-local, with its pods',
  about: [
    'Makes this machine a node as `heddle up` does, with the subnet that it has: pods that are there keep their addresses and ' +
      'their traffic, new ones get others of the same subnet. Reads what Flannel’s daemon told the node, the configuration of ' +
      'the network, and host-local’s reservations; other nodes are reached as before for as long as they have not been taken ' +
      'over.',
    'Refuses, and changes nothing, where that cannot be: another node has the subnet, the range overlaps another one, or it ' +
      'is another backend than vxlan and host-gw. When something fails on the way, everything is as it was before. With ' +
      '--dry-run it prints the same plan and changes nothing.',
    'When no pod of the former network is left, --finish removes its bridge and its devices. With the last node the cluster ' +
      'goes over to blocks that nodes take as they need them.',
  ],
  examples: [
    {
      command: 'heddle migrate flannel --store etcd://192.0.2.1:2379 --dry-run',
      what: 'shows what would be done',
    },
    { command: 'heddle migrate flannel --store etcd://192.0.2.1:2379', what: 'takes the node over' },
    { command: 'heddle migrate flannel --finish', what: 'removes what is left of Flannel' },
    {
      command: 'heddle migrate host-local --network podnet --pool 10.22.0.0/16',
      what: 'takes over a bridge or ptp network whose subnets are part of a range',
    },
  ],
  usage: `${SOURCES.join('|')} [--store url] [--dry-run] [flag]...`,
  json: `type Output = Plan | Finished;
interface Plan {
  dryRun: boolean;
  source: 'flannel' | 'host-local';
  network: string;
  config: string; // the file of the former network
  movedTo: string; // where runtimes do not see it
  read: string[];
  subnets: string[];
  bridge: string | null;
  overlays: string[]; // devices
  setsMode: boolean; // whether the cluster is told that nodes keep to their subnets
  pods: { address: string; containerID: string; ifName: string | null }[];
  pools: { name: string; cidr: string; blockSize: number; encapsulation: string; overlay: string; natOutgoing: boolean }[];
  blocks: string[];
  peers: string[]; // subnets of other nodes that the former network reaches
  agent: number | null; // its process; null with --dry-run
}
interface Finished { removed: string[]; last: boolean }`,
  parameters: {
    flags: {
      ...JOIN_FLAGS,
      encapsulation: optional(encapsulation),
      overlay: optional(overlay),
      natOutgoing: {
        ...optional(natOutgoing),
        brief: 'of new pools: give packets that leave the cluster the node’s address (default)',
      },
      network: {
        kind: 'parsed',
        parse: String,
        brief: 'which network, where there are several',
        placeholder: 'name',
        optional: true,
      },
      dryRun: {
        kind: 'boolean',
        brief: 'show what would be done, and do nothing',
        optional: true,
        withNegated: false,
      },
      finish: {
        kind: 'boolean',
        brief: 'remove what is left of the former network',
        optional: true,
        withNegated: false,
      },
      force: {
        kind: 'boolean',
        brief: '--finish: also while routes of the former network lead to nodes that are not of the cluster',
        optional: true,
        withNegated: false,
      },
    },
    positional: {
      kind: 'tuple',
      parameters: [{ placeholder: SOURCES.join('|'), parse: sourceOf, brief: 'whose network it is' }],
    },
  },
  async run(cli, flags, source) {
    if (flags.finish === true) return await finish(cli, flags);
    return await takeOver(cli, flags, source);
  },
});

async function takeOver(cli: Cli, flags: MigrateFlags, source: Source): Promise<number> {
  const dryRun = flags.dryRun === true;
  const file = configFile(cli, flags);
  const aside = join(dirname(file), 'former');
  using session = cli.openHost();
  const former = await readFormer(source, flags.network, { configDir: configDir(cli), aside }, session);
  const places = {
    ...{ config: file, network: join(configDir(cli), FIRST_NETWORK_FILE) },
    aside: asidePath(former, { aside }),
  };
  refuseOtherNetwork(places.network);
  const before = desiredConfig(cli, flags);
  await using opened = new AsyncDisposableStack();
  const store = await openFor(before, dryRun, opened);
  await refuseTakenName(store, before.name, before.instance ?? machineId());
  await findUnderlay(session, underlayOptions(before));
  const plan = await planMigration(former, before, flags, { store, session });
  const plugins = await pluginSteps(cli);
  const config = configWith(before, former, places);
  const agent = dryRun ? undefined : await applyLocked(cli, { plan, config, store, plugins, places });
  emit(
    cli,
    flags,
    () => ({ dryRun, ...planJson(plan, places), agent: agent?.pid ?? null }),
    (styled) =>
      planText(plan, places, styled) +
      (agent === undefined
        ? '\nnothing was changed\n'
        : `\nnode ${config.name} is in the cluster at ${config.store}; the agent is process ${agent.pid}\n`),
  );
  return EXIT.OK;
}

async function applyLocked(
  cli: Cli,
  {
    plan,
    config,
    ...around
  }: {
    readonly plan: Parameters<typeof applyMigration>[1];
    readonly config: WrittenNodeConfig;
    readonly store: Store;
    readonly plugins: readonly Step[];
    readonly places: MigrationPlaces;
  },
) {
  using _lock = installLock(cli.places.pluginDir);
  return await applyMigration(cli, plan, config, { ...around, program: ownProgram(cli) });
}

async function finish(cli: Cli, flags: MigrateFlags): Promise<number> {
  const config = ownConfig(cli, flags);
  const file = configFile(cli, flags);
  await using store = await reachStore(config);
  using session = cli.openHost();
  const { removed, isLast } = await finishMigration(cli, config, {
    ...{ store, session, program: ownProgram(cli), file, force: flags.force === true },
  });
  emit(
    cli,
    flags,
    () => ({ removed, last: isLast }),
    () =>
      `${removed.length === 0 ? 'there was nothing to remove' : `removed ${removed.join(', ')}`}\n` +
      (isLast
        ? 'it was the last node: from now on nodes take blocks as they need them\n'
        : 'other nodes are not finished yet: nodes keep to their subnets\n'),
  );
  return EXIT.OK;
}

/** The store; to look only, an empty one in place of a file that is not there, which would be made. */
async function openFor(
  config: WrittenNodeConfig,
  dryRun: boolean,
  opened: AsyncDisposableStack,
): Promise<Store> {
  const path = /^sqlite:\/\/(\/.+)$/.exec(config.store)?.[1];
  if (!dryRun || path === undefined || existsSync(path)) return opened.use(await reachStore(config));
  const directory = mkdtempSync(join(tmpdir(), 'heddle-dry-run-'));
  opened.defer(() => rmSync(directory, { recursive: true, force: true }));
  return opened.use(await reachStore({ store: `sqlite://${directory}/store.db` }));
}

function configWith(before: WrittenNodeConfig, former: Former, places: MigrationPlaces): WrittenNodeConfig {
  const { reservations, bridge, overlays, subnets } = former;
  return {
    ...before,
    subnets: subnets.map(String),
    former: {
      ...{ config: places.aside, reservations, overlays: [...overlays] },
      ...(bridge !== undefined && { bridge }),
    },
  };
}

/** The plugins as clients of the agent, but for those that are somebody else's: these stay, and work for both networks. */
async function pluginSteps(cli: Cli): Promise<readonly Step[]> {
  const situation = await situationOf(cli, { agent: true, network: false }, cli.places.pluginDir);
  const isForeign = (type: string) => planInstall({ ...situation, types: [type] }).inTheWay.length > 0;
  const { steps, inTheWay } = planInstall({
    ...situation,
    types: situation.types.filter((type) => type.startsWith('heddle') || !isForeign(type)),
  });
  if (inTheWay.length > 0) throw refusal(`in the way: ${inTheWay.join(', ')}`);
  return steps;
}

function refuseOtherNetwork(path: string): void {
  const found = presentAt(path);
  if (found.kind === 'nothing') return;
  if (found.kind === 'file' && found.sha256 === sha256(clusterNetwork())) return;
  throw refusal(`${path} is in the way, and not that of the cluster`);
}

function sourceOf(text: string): Source {
  const found = SOURCES.find((each) => each === text);
  if (found === undefined) throw new SyntaxError(`expected ${SOURCES.join(' or ')}, got ${text}`);
  return found;
}
