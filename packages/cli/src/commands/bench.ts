import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type BenchReport, DEFAULT_WORKLOAD, plotSvg, VERBS } from '@heddle/bench';
import { type BenchFlags, measureSides } from '../bench/measure-sides.ts';
import { reportText } from '../bench/report-text.ts';
import { defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { emit } from '../output/emit.ts';
import { CommandError } from '../output/report-error.ts';

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
    const report = await measureSides(cli, flags);
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

function hasFigures({ networks }: BenchReport): boolean {
  return networks.every(({ measurements }) => measurements.every(({ latency }) => latency.count > 0));
}

function count(brief: string, usual: number) {
  return { kind: 'parsed', parse: wholeNumber, brief, placeholder: 'n', default: String(usual) } as const;
}

function wholeNumber(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new SyntaxError(`"${text}" is no whole number`);
}
