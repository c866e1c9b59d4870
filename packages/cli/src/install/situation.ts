/** What an installation is planned from: the flags, what was built, and what is on this node. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isConfigPath } from '@heddle/cni';
import type { Prefix } from '@heddle/netaddr';
import { PLUGINS } from '@heddle/plugins';
import type { Cli, CommonFlags } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';
import { configDir } from '../request/environment.ts';
import { HEDDLE_VERSION } from '../version.ts';
import { chooseSubnets, FIRST_BRIDGE, FIRST_NETWORK_FILE, firstNetwork } from './first-network.ts';
import { readRecord } from './own-files.ts';
import { CLIENT, type Content, type InstallSituation, PROGRAM } from './plan.ts';
import { namesIn, presentAt, sha256 } from './present.ts';

/** The flags of `heddle install`. */
export interface InstallFlags extends CommonFlags {
  readonly dir?: string;
  readonly confDir?: string;
  readonly from?: string;
  readonly subnet?: readonly Prefix[];
  readonly network: boolean;
  readonly agent?: boolean;
  readonly link?: string;
  readonly dryRun?: boolean;
}

/**
 * Looks around.
 *
 * @param directory where the plugins go
 * @throws {CommandError} when the plugins were not built, or the flags contradict each other
 */
export async function situationOf(
  cli: Cli,
  flags: InstallFlags,
  directory: string,
): Promise<InstallSituation> {
  checkSubnets(flags);
  const source = flags.from === undefined ? cli.places.programDirs : [resolve(cli.cwd, flags.from)];
  const from = source.find((each) => namesIn(each).includes(PROGRAM));
  if (from === undefined) {
    throw new CommandError(EXIT.FAILED, `install: there is no ${PROGRAM} in ${source.join(' or ')}`, {
      hint: 'make build builds it; --from says where it is',
    });
  }
  return {
    version: HEDDLE_VERSION,
    directory,
    program: fileContent(join(from, PROGRAM), 0o755),
    client: flags.agent === true ? fileContent(join(from, CLIENT), 0o755) : undefined,
    types: [...PLUGINS.keys()].toSorted(),
    record: readRecord(directory),
    present: presentAt,
    command: flags.link === undefined ? undefined : commandLink(cli, flags.link),
    network: flags.network ? await networkFor(cli, flags) : undefined,
  };
}

/** Where the network goes. */
export function networkDir(cli: Cli, { confDir }: InstallFlags): string {
  return resolve(cli.cwd, confDir ?? configDir(cli));
}

/** @throws {CommandError} for subnets that the first network cannot have */
function checkSubnets({ subnet = [], network }: InstallFlags): void {
  const refuse = (why: string) => {
    throw new CommandError(EXIT.USAGE, `install: ${why}`);
  };
  if (subnet.length > 0 && !network)
    refuse('--subnet is for the first network, which --no-network leaves out');
  for (const family of [4, 6]) {
    const same = subnet.filter((each) => each.family === family);
    if (same.length > 1)
      refuse(`two IPv${family} subnets, ${same.join(' and ')}; the first network has one of each family`);
  }
}

function commandLink({ cwd, places }: Cli, directory: string): InstallSituation['command'] {
  if (places.command !== undefined)
    return { path: resolve(cwd, directory, 'heddle'), target: places.command };
  throw new CommandError(
    EXIT.FAILED,
    'install: --link is for a checkout, and this heddle is not run from one',
  );
}

async function networkFor(cli: Cli, flags: InstallFlags): Promise<InstallSituation['network']> {
  const confDir = networkDir(cli, flags);
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
