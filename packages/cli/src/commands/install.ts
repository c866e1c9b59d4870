import { resolve } from 'node:path';
import { Prefix } from '@heddle/netaddr';
import { type Cli, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { applySteps } from '../install/apply.ts';
import { FIRST_NETWORK, FIRST_NETWORK_FILE } from '../install/first-network.ts';
import { installLock } from '../install/own-files.ts';
import { type Plan, PROGRAM, planInstall } from '../install/plan.ts';
import { stepsJson, stepsText } from '../install/report.ts';
import { type InstallFlags, networkDir, situationOf } from '../install/situation.ts';
import { emit } from '../output/emit.ts';
import { configDir } from '../request/environment.ts';
import { pluginDirectories } from '../request/plugin-directories.ts';
import { otherDirectories } from '../request/runtime-configs.ts';

/** `heddle install`. */
export const installCommand = defineCommand<InstallFlags, []>({
  name: 'install',
  group: 'Set up this node',
  brief: 'install the plugins on this node',
  about: [
    'Puts the plugins into a directory (one program, one link for each plugin type), and writes a first network when the ' +
      'directory of networks has none: a bridge with IPv4 and IPv6, published ports and a way out.',
    "Never overwrites what is not Heddle's own: when something is in the way it says what, changes nothing and ends with " +
      `${EXIT.IN_THE_WAY}. It can be run again at any time, also to upgrade while plugins run: files are replaced whole, and the ` +
      'network comes last, when everything that it needs is there.',
    'With --agent the links lead to a client of a few hundred kilobytes, which hands calls over to the agent and starts the ' +
      'program only where no agent serves. Run without --agent, install leads them back.',
  ],
  examples: [
    { command: 'heddle install', what: 'makes this node ready for containers' },
    { command: 'heddle install --dry-run', what: 'shows what that would do' },
    {
      command: 'heddle install --dir /opt/heddle/bin --no-network',
      what: "puts the plugins beside another vendor's, for CNI_PATH=/opt/heddle/bin:/opt/cni/bin",
    },
    {
      command: 'bin/heddle install --link /usr/local/bin',
      what: 'makes `heddle` a command as well, in a checkout that is here to stay',
    },
    {
      command: 'heddle install --subnet 10.42.0.0/16 --subnet fd42::/64',
      what: 'chooses the addresses of the first network',
    },
  ],
  usage: '[--dir dir] [--conf-dir dir] [--subnet prefix]... [flag]...',
  json: `interface Output {
  dryRun: boolean;
  steps: { do: 'create' | 'replace' | 'link' | 'record' | 'keep' | 'skip'; path: string; note: string | null }[];
  inTheWay: string[];
  notes: string[]; // what else has to be set for a runtime of this node
}`,
  parameters: {
    flags: {
      dir: {
        kind: 'parsed',
        parse: String,
        brief: 'where the plugins go (default /opt/cni/bin)',
        placeholder: 'dir',
        optional: true,
      },
      confDir: {
        kind: 'parsed',
        parse: String,
        brief: 'where the network goes (default /etc/cni/net.d)',
        placeholder: 'dir',
        optional: true,
      },
      from: {
        kind: 'parsed',
        parse: String,
        brief: `where ${PROGRAM} comes from (default: what \`make build\` made)`,
        placeholder: 'dir',
        optional: true,
      },
      subnet: {
        kind: 'parsed',
        parse: Prefix.parse,
        brief: 'a subnet of the first network; may be repeated, one for IPv4 and one for IPv6',
        placeholder: 'prefix',
        variadic: true,
        optional: true,
      },
      agent: {
        kind: 'boolean',
        brief: 'have the plugins hand calls over to the agent, see heddle agent',
        optional: true,
        withNegated: false,
      },
      network: { kind: 'boolean', brief: 'write no first network', default: true },
      link: {
        kind: 'parsed',
        parse: String,
        brief: 'a directory that gets a link by which heddle can be typed, such as /usr/local/bin',
        placeholder: 'dir',
        optional: true,
      },
      dryRun: {
        kind: 'boolean',
        brief: 'show what would be done, and do nothing',
        optional: true,
        withNegated: false,
      },
    },
  },
  async run(cli, flags) {
    const directory = resolve(cli.cwd, flags.dir ?? cli.places.pluginDir);
    const dryRun = flags.dryRun === true;
    using _lock = dryRun ? new DisposableStack() : installLock(directory);
    const plan = planInstall(await situationOf(cli, flags, directory));
    if (!dryRun) applySteps(plan.steps);
    const notes = otherDirectories(cli.places.runtimeConfigs, {
      pluginDir: directory,
      ...(flags.network && { configDir: networkDir(cli, flags) }),
    });
    const isRefused = plan.inTheWay.length > 0;
    emit(
      cli,
      flags,
      () => ({ dryRun, steps: stepsJson(plan), inTheWay: plan.inTheWay, notes }),
      (styled) => (isRefused ? '' : stepsText(plan, { dryRun, styled })),
    );
    if (isRefused) return refuse(cli, plan);
    for (const note of notes) cli.stderr.write(`heddle: note: ${note}\n`);
    if (!dryRun && flags.output !== 'json') cli.stdout.write(nextStep(cli, plan, flags));
    return EXIT.OK;
  },
});

/** What to try when all is in place. */
function nextStep(cli: Cli, { steps }: Plan, flags: InstallFlags): string {
  const isThere = steps.some(
    (step) => step.path.endsWith(`/${FIRST_NETWORK_FILE}`) && (step.do === 'create' || step.do === 'keep'),
  );
  if (!isThere) return '';
  const directory = resolve(cli.cwd, flags.dir ?? cli.places.pluginDir);
  const variables = [
    ...(pluginDirectories(cli).includes(directory) ? [] : [`CNI_PATH=${directory} `]),
    ...(networkDir(cli, flags) === resolve(cli.cwd, configDir(cli))
      ? []
      : [`NETCONFPATH=${networkDir(cli, flags)} `]),
  ];
  return `\nTry it: ${variables.join('')}heddle run ${FIRST_NETWORK} -- ip address\n`;
}

function refuse({ stderr }: Cli, { inTheWay }: Plan): number {
  for (const path of inTheWay) stderr.write(`heddle: in the way, and not heddle's: ${path}\n`);
  stderr.write('  hint: nothing was changed; choose another place with --dir, or move these away\n');
  return EXIT.IN_THE_WAY;
}
