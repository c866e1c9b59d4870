/** What a run of `make bench` has measured, and what it was to show. */
import {
  type BenchReport,
  figure,
  type Measurement,
  type NetworkReport,
  type Ratio,
  ratioOfMedians,
  seeded,
  type Verb,
} from '@heddle/bench';
import type { AuditTime } from './audit.ts';
import type { Footprint } from './footprint.ts';
import type { Lanes } from './lanes.ts';

/** All that was measured. */
export interface Results {
  readonly environment: BenchReport['environment'];
  /** The rounds of the longest part; a run with few is for trying out. */
  readonly rounds: number;
  readonly bridge: NetworkReport;
  readonly chain: NetworkReport;
  readonly others: readonly NetworkReport[];
  readonly mass: NetworkReport;
  readonly growth: NetworkReport;
  readonly footprint: Footprint;
  readonly audits: readonly AuditTime[];
  readonly targets: readonly Target[];
}

/** Something that a run is to show. */
export interface Target {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  readonly met: boolean;
}

/** Names of what is measured on a node that is in use. */
export const IN_USE = ', node in use';

/** Everything that is to be shown, from what was measured. */
export function targetsOf(
  results: Omit<Results, 'targets'>,
  { references, client, program }: Lanes,
): readonly Target[] {
  const { bridge, chain, mass, growth, footprint } = results;
  const verbs = ['ADD', 'DEL'] as const;
  const limits = (report: NetworkReport, of: string, limit: Readonly<Record<'ADD' | 'DEL', number>>) =>
    references.flatMap((reference) =>
      verbs.map((verb) => atMost(report, verb, { of, to: reference.name, limit: limit[verb] })),
    );
  return [
    ...limits(bridge, client.name, { ADD: 0.2, DEL: 0.12 }),
    ...limits(chain, client.name, { ADD: 0.06, DEL: 0.05 }),
    ...references.flatMap((reference) =>
      verbs.map((verb) => timesFaster(mass, verb, { of: client.name, to: reference.name, least: 15 })),
    ),
    atMost(bridge, 'ADD', { of: client.name, to: FLOOR, limit: 2 }),
    ...verbs.map((verb) =>
      atMost(growth, verb, { of: `${client.name}${IN_USE}`, to: client.name, limit: 1.2 }),
    ),
    {
      what: `agent's memory with ${footprint.attachments} attachments of the full chain`,
      target: 'at most 100 MiB',
      measured: `${mebibytes(footprint.after)} (${mebibytes(footprint.before)} before the first)`,
      met: footprint.after <= 100 * 2 ** 20,
    },
    {
      what: `agent's processor time when idle, in ${footprint.idle / 1000} s`,
      target: 'none',
      measured: `${footprint.busy} ms`,
      met: footprint.busy === 0,
    },
    ...limits(bridge, program.name, { ADD: 1.6, DEL: 1.6 }),
    ...references.flatMap((reference) =>
      verbs.map((verb) =>
        timesFaster(chain, verb, { of: program.name, to: reference.name, least: 4, by: 'latency' }),
      ),
    ),
  ];
}

/** The name of what `floor.c` is measured under. */
export const FLOOR = 'floor';

function atMost(
  report: NetworkReport,
  verb: Verb,
  { of, to, limit }: { readonly of: string; readonly to: string; readonly limit: number },
): Target {
  const ratio = ratioIn(report, verb, of, to, 'latency');
  return {
    what: `${report.network}: ${verb} of ${of} against ${to}`,
    target: `at most ${limit}`,
    measured: `${precise(ratio.ratio)} (${precise(ratio.low)}-${precise(ratio.high)})`,
    met: ratio.ratio <= limit,
  };
}

function timesFaster(
  report: NetworkReport,
  verb: Verb,
  {
    of,
    to,
    least,
    by = 'throughput',
  }: {
    readonly of: string;
    readonly to: string;
    readonly least: number;
    readonly by?: 'throughput' | 'latency';
  },
): Target {
  const faster = by === 'throughput' ? ratioIn(report, verb, of, to, by) : ratioIn(report, verb, to, of, by);
  const all = report.measurements.find((each) => each.verb === verb && each.contender === of)?.latency.count;
  const subject = by === 'throughput' ? `${verb} of ${all} pods, 32 at a time, by ${of}` : `${verb} of ${of}`;
  return {
    what: `${report.network}: ${subject} against ${to}`,
    target: `at least ${least} times faster`,
    measured: `${figure(faster.ratio)} times`,
    met: faster.ratio >= least,
  };
}

function ratioIn(
  report: NetworkReport,
  verb: Verb,
  of: string,
  to: string,
  what: 'latency' | 'throughput',
): Ratio {
  const samples = (contender: string): readonly number[] =>
    report.measurements.find((each: Measurement) => each.verb === verb && each.contender === contender)
      ?.samples[what] ?? [];
  return ratioOfMedians(samples(of), samples(to), { random: seeded(1) });
}

function precise(value: number): string {
  return value < 1 ? value.toFixed(3) : value.toFixed(2);
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}
