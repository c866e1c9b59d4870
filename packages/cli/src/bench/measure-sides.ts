/** Two directories of plugins, measured as a command line asks. */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import {
  type BenchReport,
  type Contender,
  DEFAULT_WORKLOAD,
  lookAround,
  measureNetwork,
  type NetworkReport,
  type Service,
  seeded,
  VERBS,
  type Verb,
  type Workload,
} from '@heddle/bench';
import type { NetworkConfigList } from '@heddle/cni';
import { defaultNetwork, loadNetworkFile } from '@heddle/cni/runtime';
import type { Cli, CommonFlags } from '../command.ts';
import { CLIENT } from '../install/plan.ts';
import { configDir } from '../request/environment.ts';
import { HEDDLE_VERSION } from '../version.ts';

/** The flags of `heddle bench`. */
export interface BenchFlags extends CommonFlags {
  readonly baseline: string;
  readonly candidate?: string;
  readonly network?: readonly string[];
  readonly agent: boolean;
  readonly rounds: number;
  readonly warmup: number;
  readonly batch?: number;
  readonly parallel: number;
  readonly pods: number;
  readonly ports: number;
  readonly fillReservations: number;
  readonly fillMappings: number;
  readonly verb?: readonly Verb[];
  readonly svg?: string;
}

/**
 * Measures both sides, on each network.
 *
 * @throws {BenchError} when that cannot be done
 */
export async function measureSides(cli: Cli, flags: BenchFlags): Promise<BenchReport> {
  const { command, pluginDir } = cli.places;
  const checkout = command === undefined ? undefined : dirname(dirname(command));
  const surroundings = lookAround({ now: new Date(cli.now()), version: HEDDLE_VERSION, checkout });
  const entries = [
    { name: 'baseline', directory: resolve(cli.cwd, flags.baseline) },
    { name: 'candidate', directory: resolve(cli.cwd, flags.candidate ?? pluginDir) },
  ].map((contender) => ({ contender: withAgent(contender, flags.agent ? command : undefined) }));
  const workload = workloadOf(flags);
  const networks: NetworkReport[] = [];
  for (const list of networksOf(cli, flags)) {
    networks.push(
      await measureNetwork(list, entries, workload, {
        // So that the same figures give the same interval.
        random: seeded(1),
        onProgress: (what) => tell(cli, what),
      }),
    );
  }
  tell(cli, '');
  return { environment: surroundings.end(), workload, networks };
}

function networksOf(cli: Cli, { network = [] }: BenchFlags): readonly NetworkConfigList[] {
  if (network.length === 0) return [defaultNetwork(configDir(cli)).list];
  return network.map((path) => loadNetworkFile(resolve(cli.cwd, path)));
}

function workloadOf({
  rounds,
  warmup,
  parallel,
  batch = parallel,
  ports,
  pods,
  ...flags
}: BenchFlags): Workload {
  const fill = { pods, reservations: flags.fillReservations, mappings: flags.fillMappings };
  const verbs = flags.verb ?? VERBS;
  return { ...DEFAULT_WORKLOAD, rounds, warmup, parallel, batch, ports, fill, verbs };
}

/** @param command what starts the agent; `undefined` for none */
function withAgent(contender: Contender, command: string | undefined): Contender {
  if (command === undefined || !isClient(contender.directory)) return contender;
  const agent: Service = {
    program: command,
    args: ['agent'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    needs: [dirname(dirname(command))],
    readyPath: '/run/heddle/agent.sock',
  };
  return { ...contender, agent };
}

/** Whether the plugins in a directory are the agent's client. */
function isClient(directory: string): boolean {
  try {
    return basename(realpathSync(join(directory, 'bridge'))) === CLIENT;
  } catch {
    return false;
  }
}

/** What is being done, on a line that the next one replaces. */
function tell({ stderr }: Cli, what: string): void {
  if (stderr.isTerminal) stderr.write(`\r\u001b[K${what}`);
}
