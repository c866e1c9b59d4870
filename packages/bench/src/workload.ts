import type { NetworkConfigList } from '@heddle/cni';
import { BenchError } from './bench-error.ts';
import { hasVerb, VERBS, type Verb } from './calls.ts';
import { type Fill, requirePortMappings } from './fill.ts';

/** What is measured, and how often. */
export interface Workload {
  /** Rounds that count. */
  readonly rounds: number;
  /** Rounds before them that do not. */
  readonly warmup: number;
  /** Pods that are attached, and detached again, in one round. */
  readonly batch: number;
  /** How many of them at a time. */
  readonly parallel: number;
  /** Ports that each of them publishes. */
  readonly ports: number;
  /** What is on the node already. */
  readonly fill: Fill;
  readonly verbs: readonly Verb[];
  /** Milliseconds after which a call is killed. */
  readonly callPatience: number;
  /** Milliseconds after which a pod's first packet counts as lost. */
  readonly packetPatience: number;
}

/** What is measured unless something else is asked for. */
export const DEFAULT_WORKLOAD: Workload = {
  rounds: 20,
  warmup: 2,
  batch: 1,
  parallel: 1,
  ports: 0,
  fill: { pods: 0, reservations: 0, mappings: 0 },
  verbs: VERBS,
  callPatience: 60_000,
  packetPatience: 500,
};

/** The verbs of a workload that a network has, in their order; ADD and DEL always. */
export function verbsFor(list: NetworkConfigList, { verbs }: Workload): readonly Verb[] {
  return VERBS.filter(
    (verb) => verb === 'ADD' || verb === 'DEL' || (verbs.includes(verb) && hasVerb(list, verb)),
  );
}

/**
 * Makes sure that a workload can be had on a network.
 *
 * @throws {BenchError} BENCH_REFUSED when not
 */
export function checkWorkload(
  list: NetworkConfigList,
  { rounds, warmup, batch, parallel, ports, fill }: Workload,
): void {
  const counts = { rounds, batch, parallel, warmup, ports, ...fill };
  for (const [name, count] of Object.entries(counts)) {
    const least = ['rounds', 'batch', 'parallel'].includes(name) ? 1 : 0;
    if (!Number.isSafeInteger(count) || count < least) {
      throw new BenchError('BENCH_REFUSED', `${name} must be a whole number, ${least} or more: ${count}`);
    }
  }
  if (ports > 0 || fill.mappings > 0) requirePortMappings({ list });
}
