/** What a measurement says. `heddle bench -o json` prints it as it is. */
import type { Verb } from './calls.ts';
import type { Environment } from './environment.ts';
import type { Ratio, Summary } from './statistics.ts';
import type { Workload } from './workload.ts';

/** A measurement of several networks. */
export interface BenchReport {
  readonly environment: Environment;
  readonly workload: Workload;
  readonly networks: readonly NetworkReport[];
}

/** What was measured on one network. */
export interface NetworkReport {
  readonly network: string;
  /** The types of its plugins. */
  readonly chain: readonly string[];
  /** Addresses that had to hear the first packet of each pod. */
  readonly probes: readonly string[];
  /** What has to be known to read the figures. */
  readonly notes: readonly string[];
  /** The first is what the others are compared with. */
  readonly contenders: readonly ContenderReport[];
  readonly measurements: readonly Measurement[];
}

/** A contender. */
export interface ContenderReport {
  readonly name: string;
  readonly directory: string;
  /** Whether its calls went to an agent. */
  readonly hasAgent: boolean;
  /** What its plugins say of themselves, by type. */
  readonly versions: Readonly<Record<string, string>>;
}

/** One verb of one contender. */
export interface Measurement {
  readonly verb: Verb;
  readonly contender: string;
  /** How many did not count, by the reason. */
  readonly failures: Readonly<Record<string, number>>;
  /** Milliseconds that the calls of one attachment took together, of those that count. */
  readonly latency: Summary;
  /** Attachments a second, one figure a round. */
  readonly throughput: Summary;
  /** Milliseconds from the end of ADD until the pod's first packets had all arrived. */
  readonly firstPacket: Summary | undefined;
  /** Milliseconds of the single plugins, in the order in which they are called. */
  readonly plugins: readonly (Summary & { readonly type: string })[];
  /** In comparison with the first contender; `undefined` for itself, and where one of both has nothing. */
  readonly comparison: Comparison | undefined;
  readonly samples: Samples;
}

/** Multiples of the first contender's medians. */
export interface Comparison {
  readonly latency: Ratio;
  readonly throughput: Ratio;
}

/** All figures that were measured, in the order in which they were. */
export interface Samples {
  readonly latency: readonly number[];
  readonly throughput: readonly number[];
}
