/** Collects what a contender's attempts at a verb have come to. */
import type { Verb } from './calls.ts';
import type { Measurement } from './report.ts';
import type { Batch } from './site.ts';
import { ratioOfMedians, summarize } from './statistics.ts';

/** See the file's comment. */
export class Tally {
  readonly #contender: string;
  readonly #verb: Verb;
  readonly #types: readonly string[];
  readonly #latency: number[] = [];
  readonly #throughput: number[] = [];
  readonly #firstPacket: number[] = [];
  readonly #steps: number[][];
  readonly #failures = new Map<string, number>();

  /** @param types of the plugins, in the order of the verb's calls */
  constructor(contender: string, verb: Verb, types: readonly string[]) {
    this.#contender = contender;
    this.#verb = verb;
    this.#types = types;
    this.#steps = types.map(() => []);
  }

  /** Counts a batch. What has failed is told, and nothing else is known of it. */
  count({ milliseconds, attempts }: Batch): void {
    for (const { failure, ...attempt } of attempts) {
      if (failure !== undefined) {
        this.#countFailure(failure);
        continue;
      }
      this.#latency.push(rounded(attempt.milliseconds));
      for (const [index, step] of attempt.steps.entries()) this.#steps[index]?.push(step);
      const arrivals = attempt.outcome.arrivals.flatMap((each) =>
        'lost' in each ? [] : [each.milliseconds],
      );
      if (arrivals.length > 0) this.#firstPacket.push(Math.max(...arrivals));
    }
    const counted = attempts.filter(({ failure }) => failure === undefined).length;
    this.#throughput.push(rounded(counted / (milliseconds / 1000)));
  }

  /** Failures that differ only in numbers, such as ports, are of one kind, for which the first stands. */
  #countFailure(failure: string): void {
    const kind = kindOf(failure);
    const known = [...this.#failures.keys()].find((each) => kindOf(each) === kind) ?? failure;
    this.#failures.set(known, (this.#failures.get(known) ?? 0) + 1);
  }

  /**
   * What was measured.
   *
   * @param first the first contender's, for the comparison
   */
  measurement(first: Tally, random: () => number): Measurement {
    const canCompare = this !== first && this.#latency.length > 0 && first.#latency.length > 0;
    return {
      verb: this.#verb,
      contender: this.#contender,
      failures: Object.fromEntries(this.#failures),
      latency: summarize(this.#latency),
      throughput: summarize(this.#throughput),
      firstPacket: this.#firstPacket.length === 0 ? undefined : summarize(this.#firstPacket),
      plugins: this.#steps.map((step, index) => ({ type: this.#types[index] ?? '', ...summarize(step) })),
      comparison: canCompare
        ? {
            latency: ratioOfMedians(this.#latency, first.#latency, { random }),
            throughput: ratioOfMedians(this.#throughput, first.#throughput, { random }),
          }
        : undefined,
      samples: { latency: this.#latency, throughput: this.#throughput },
    };
  }
}

/** To microseconds: what is below is noise. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function kindOf(failure: string): string {
  return failure.replace(/[0-9a-f]*[0-9][0-9a-f]*/g, '#');
}
