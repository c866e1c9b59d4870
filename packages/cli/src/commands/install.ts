import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isConfigPath } from '@heddle/cni';
import { Prefix } from '@heddle/netaddr';
import { PLUGINS } from '@heddle/plugins';
import { type Cli, type CommonFlags, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { applySteps } from '../install/apply.ts';
import { chooseSubnets, FIRST_BRIDGE, FIRST_NETWORK_FILE, firstNetwork } from '../install/first-network.ts';
import { installLock, readRecord } from '../install/own-files.ts';
import {
  ADDON,
  type Content,
  type InstallSituation,
  type Plan,
  PROGRAM,
  planInstall,
} from '../install/plan.ts';
import { namesIn, presentAt, sha256 } from '../install/present.ts';
import { stepsJson, stepsText } from '../install/report.ts';
import { emit } from '../output/emit.ts';
import { CommandError } from '../output/report-error.ts';

interface InstallFlags extends CommonFlags {
  readonly dir?: string;
  readonly confDir?: string;
  readonly from?: string;
  readonly subnet?: readonly Prefix[];
  readonly network: boolean;
  readonly dryRun?: boolean;
}

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
  ],
  examples: [
    { command: 'heddle install', what: 'makes this node ready for containers' },
    { command: 'heddle install --dry-run', what: 'shows what that would do' },
    {
      command: 'heddle install --dir /opt/heddle/bin --no-network',
      what: "puts the plugins beside another vendor's, for CNI_PATH=/opt/heddle/bin:/opt/cni/bin",
    },
    {
      command: 'heddle install --subnet 10.42.0.0/16 --subnet fd42::/64',
      what: 'chooses the addresses of the first network',
    },
  ],
  usage: '[--dir dir] [--conf-dir dir] [--subnet prefix]... [--no-network] [--dry-run]',
  json: `interface Output {
  dryRun: boolean;
  steps: { do: 'create' | 'replace' | 'link' | 'record' | 'keep'; path: string; note: string | null }[];
  inTheWay: string[];
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
        brief: `where ${PROGRAM} and ${ADDON} come from (default: what \`make build\` made)`,
        placeholder: 'dir',
        optional: true,
      },
      subnet: {
        kind: 'parsed',
        parse: Prefix.parse,
        brief: 'a subnet of the first network; may be repeated',
        placeholder: 'prefix',
        variadic: true,
        optional: true,
      },
      network: { kind: 'boolean', brief: 'whether to write a first network', default: true },
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
    emit(
      cli,
      flags,
      () => ({ dryRun, steps: stepsJson(plan), inTheWay: plan.inTheWay }),
      (styled) => (plan.inTheWay.length > 0 ? '' : stepsText(plan, styled)),
    );
    return refuse(cli, plan);
  },
});

async function situationOf(cli: Cli, flags: InstallFlags, directory: string): Promise<InstallSituation> {
  const source = flags.from === undefined ? cli.places.programDirs : [resolve(cli.cwd, flags.from)];
  const from = source.find((each) => namesIn(each).includes(PROGRAM));
  if (from === undefined) {
    throw new CommandError(EXIT.FAILED, `install: there is no ${PROGRAM} in ${source.join(' or ')}`, {
      hint: 'make build builds it; --from says where it is',
    });
  }
  return {
    directory,
    program: fileContent(join(from, PROGRAM), 0o755),
    addon: fileContent(join(from, ADDON), 0o644),
    types: [...PLUGINS.keys()].toSorted(),
    record: readRecord(directory),
    present: presentAt,
    network: flags.network ? await networkFor(cli, flags) : undefined,
  };
}

async function networkFor(cli: Cli, flags: InstallFlags): Promise<InstallSituation['network']> {
  const confDir = resolve(cli.cwd, flags.confDir ?? cli.env['NETCONFPATH'] ?? cli.places.configDir);
  const text = firstNetwork(flags.subnet ?? (await subnetsFor(cli)));
  return {
    path: join(confDir, FIRST_NETWORK_FILE),
    content: { text, sha256: sha256(text), mode: 0o644 },
    others: namesIn(confDir).filter(isConfigPath),
  };
}

/** Those of the bridge, where an earlier installation has left it; else ones that nobody here uses. */
async function subnetsFor({ openHost, randomBytes }: Cli): Promise<readonly Prefix[]> {
  using host = openHost();
  const bridge = await host.links.find(FIRST_BRIDGE);
  if (bridge !== undefined) {
    const addresses = await host.addresses.list({ link: bridge.index });
    const subnets = addresses.map(({ prefix }) => prefix.masked()).filter(({ addr }) => !addr.isLinkLocal);
    if (subnets.length > 0) return subnets;
  }
  const routes = await host.routes.list({ family: 4 });
  return chooseSubnets(
    routes.map(({ dst }) => dst).filter(({ bits }) => bits > 0),
    randomBytes,
  );
}

function fileContent(path: string, mode: number): Content {
  return { from: path, sha256: sha256(readFileSync(path)), mode };
}

function refuse({ stderr }: Cli, { inTheWay }: Plan): number {
  if (inTheWay.length === 0) return EXIT.OK;
  for (const path of inTheWay) stderr.write(`heddle: in the way, and not heddle's: ${path}\n`);
  stderr.write('  hint: nothing was changed; choose another place with --dir, or move these away\n');
  return EXIT.IN_THE_WAY;
}
