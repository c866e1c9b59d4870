import { realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import {
  type BenchReport,
  type Contender,
  DEFAULT_WORKLOAD,
  lookAround,
  measureNetwork,
  type NetworkReport,
  plotSvg,
  type Service,
  seeded,
  VERBS,
  type Verb,
  type Workload,
} from '@heddle/bench';
import type { NetworkConfigList } from '@heddle/cni';
import { defaultNetwork, loadNetworkFile } from '@heddle/cni/runtime';
import { reportText } from '../bench/report-text.ts';
import { type Cli, type CommonFlags, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CLIENT } from '../install/plan.ts';
import { emit } from '../output/emit.ts';
import { CommandError } from '../output/report-error.ts';
import { configDir } from '../request/environment.ts';
import { HEDDLE_VERSION } from '../version.ts';

interface BenchFlags extends CommonFlags {
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

/** `heddle bench`. */
export const benchCommand = defineCommand<BenchFlags, []>({
  name: 'bench',
  group: 'Learn',
  brief: 'measure how fast two sets of plugins attach and detach',
  about: [
    'Attaches and detaches pods with the plugins of two directories, in turns, and says how long that takes and how many ' +
      'are done a second: medians, the middle half, and the ratio with the interval that holds it with 95 % probability. ' +
      'Calls are made by a native program that forks and executes as a runtime does, so that nothing of this one is in the figures.',
    'An attachment counts only if its plugins succeed, its interface is there, and the first packet that the pod sends, at ' +
      'once, arrives at its gateway, for IPv4 and IPv6; a detachment, if the interface is gone. What does not count is told.',
    'Each side has a node of its own: network, mount and process namespaces in which everything else of this machine can ' +
      'only be read. Nothing is left behind. Where the plugins are the client of the agent, a fresh agent of this program ' +
      'serves them there.',
  ],
  examples: [
    {
      command: 'heddle bench --baseline /usr/lib/cni --network /etc/cni/net.d/10-podnet.conflist',
      what: 'compares the plugins of this node with the reference',
    },
    {
      command:
        'heddle bench --baseline /usr/lib/cni --candidate /opt/heddle/bin --parallel 32 --batch 256 --rounds 1',
      what: 'attaches 256 pods, 32 at a time, and detaches them again',
    },
    {
      command: 'heddle bench --baseline /opt/cni/bin --pods 200 --fill-reservations 5000 --svg growth.svg',
      what: 'measures on a node that is in use, and draws the result',
    },
  ],
  usage: '--baseline dir [--candidate dir] [--network file]... [flag]...',
  json: `interface Output {
  environment: {
    at: string;
    system: string;
    kernel: string;
    architecture: string;
    processor: string;
    processors: number;
    governor: string;
    memory: number;
    load: { before: number; after: number };
    node: string;
    heddle: string;
    commit: string;
  };
  workload: {
    rounds: number;
    warmup: number;
    batch: number;
    parallel: number;
    ports: number;
    fill: { pods: number; reservations: number; mappings: number };
    verbs: Verb[];
    callPatience: number;
    packetPatience: number;
  };
  networks: {
    network: string;
    chain: string[];
    probes: string[];
    notes: string[];
    contenders: { name: string; directory: string; hasAgent: boolean; versions: { [type: string]: string } }[];
    measurements: {
      verb: Verb;
      contender: string;
      failures: { [why: string]: number };
      latency: Summary; // milliseconds
      throughput: Summary; // attachments a second
      firstPacket?: Summary; // milliseconds after ADD
      plugins: (Summary & { type: string })[];
      comparison?: { latency: Ratio; throughput: Ratio }; // with the baseline
      samples: { latency: number[]; throughput: number[] };
    }[];
  }[];
}
type Verb = 'VERSION' | 'ADD' | 'CHECK' | 'DEL';
interface Summary { count: number; median: number; low: number; high: number; p99: number }
interface Ratio { ratio: number; low: number; high: number }`,
  parameters: {
    flags: {
      baseline: { kind: 'parsed', parse: String, brief: 'plugins to compare with', placeholder: 'dir' },
      candidate: {
        kind: 'parsed',
        parse: String,
        brief: 'plugins to be compared (default /opt/cni/bin)',
        placeholder: 'dir',
        optional: true,
      },
      network: {
        kind: 'parsed',
        parse: String,
        brief: 'a configuration to attach to; may be repeated (default: the first in /etc/cni/net.d)',
        placeholder: 'file',
        variadic: true,
        optional: true,
      },
      agent: { kind: 'boolean', brief: 'start no agent for plugins that are its client', default: true },
      rounds: count('rounds that count', DEFAULT_WORKLOAD.rounds),
      warmup: count('rounds before them', DEFAULT_WORKLOAD.warmup),
      batch: {
        kind: 'parsed',
        parse: wholeNumber,
        brief: 'pods in a round (default: as many as at a time)',
        placeholder: 'n',
        optional: true,
      },
      parallel: count('pods at a time', DEFAULT_WORKLOAD.parallel),
      pods: count('pods that are attached before and stay', DEFAULT_WORKLOAD.fill.pods),
      ports: count('ports that each pod publishes', DEFAULT_WORKLOAD.ports),
      fillReservations: count(
        'addresses that host-local has given to others',
        DEFAULT_WORKLOAD.fill.reservations,
      ),
      fillMappings: count('ports that other pods publish', DEFAULT_WORKLOAD.fill.mappings),
      verb: {
        kind: 'enum',
        values: VERBS,
        brief: 'what to measure besides ADD and DEL; may be repeated (default: all)',
        placeholder: 'verb',
        variadic: true,
        optional: true,
      },
      svg: {
        kind: 'parsed',
        parse: String,
        brief: 'a file that gets a drawing of the result',
        placeholder: 'file',
        optional: true,
      },
    },
  },
  hasWide: true,
  async run(cli, flags) {
    if (!cli.isRoot) {
      throw new CommandError(EXIT.FAILED, 'bench: only root can make namespaces', {
        hint: 'run it with sudo',
      });
    }
    const report = await measure(cli, flags);
    if (flags.svg !== undefined) writeFileSync(resolve(cli.cwd, flags.svg), plotSvg(report));
    emit(
      cli,
      flags,
      () => report,
      (styled) => reportText(report, { styled, wide: flags.output === 'wide' }),
    );
    return hasFigures(report) ? EXIT.OK : EXIT.FAILED;
  },
});

async function measure(cli: Cli, flags: BenchFlags): Promise<BenchReport> {
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

function hasFigures({ networks }: BenchReport): boolean {
  return networks.every(({ measurements }) => measurements.every(({ latency }) => latency.count > 0));
}

/** What is being done, on a line that the next one replaces. */
function tell({ stderr }: Cli, what: string): void {
  if (stderr.isTerminal) stderr.write(`\r\u001b[K${what}`);
}

function count(brief: string, usual: number) {
  return { kind: 'parsed', parse: wholeNumber, brief, placeholder: 'n', default: String(usual) } as const;
}

function wholeNumber(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new SyntaxError(`"${text}" is no whole number`);
}
