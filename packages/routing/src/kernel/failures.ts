/** What could not be done, and when it is tried again. */
import type { Clock } from '../clock.ts';
import type { RoutingProblem } from '../status.ts';

interface Failure {
  readonly problem: RoutingProblem;
  /** Monotonic milliseconds. */
  readonly retryAt: number;
}

const FIRST_RETRY = 1_000;
const LAST_RETRY = 30_000;

/** See the file's comment. Each next attempt waits for twice as long as the one before it. */
export class Failures {
  readonly #clock: Clock;
  readonly #known = new Map<string, Failure>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that something failed (again). @returns whether that is news */
  add(subject: string, reason: string): boolean {
    const before = this.#known.get(subject);
    const attempts = (before?.problem.attempts ?? 0) + 1;
    const since = before?.problem.since ?? this.#clock.now();
    const wait = Math.min(FIRST_RETRY * 2 ** (attempts - 1), LAST_RETRY);
    const problem = { subject, reason, since, attempts };
    this.#known.set(subject, { problem, retryAt: this.#clock.monotonic() + wait });
    return before?.problem.reason !== reason;
  }

  /** Notes that something is as it should be. @returns whether it was not */
  solve(subject: string): boolean {
    return this.#known.delete(subject);
  }

  /** When the next attempt is due, in monotonic milliseconds. */
  get nextRetry(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { retryAt } of this.#known.values()) next = Math.min(next, retryAt);
    return next;
  }

  get(subject: string): RoutingProblem | undefined {
    return this.#known.get(subject)?.problem;
  }

  get size(): number {
    return this.#known.size;
  }

  /** What has failed and not been mended, oldest first. */
  list(): readonly RoutingProblem[] {
    return [...this.#known.values()].map(({ problem }) => problem);
  }

  /** Forgets what is about none of these. */
  keepOnly(isKnown: (subject: string) => boolean): readonly string[] {
    const gone = [...this.#known.keys()].filter((subject) => !isKnown(subject));
    for (const subject of gone) this.#known.delete(subject);
    return gone;
  }
}
