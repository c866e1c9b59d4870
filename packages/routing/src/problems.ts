/** What is not as it should be: kept by subject, and told when it comes, changes or goes. */
import type { Clock } from './clock.ts';
import type { RoutingProblem } from './status.ts';

/** Told of a problem, and of the end of one. */
export type ProblemEvent =
  | { readonly kind: 'problem'; readonly problem: RoutingProblem }
  | { readonly kind: 'solved'; readonly subject: string };

/** What problems are drawn up from, besides those that are noted here. */
export interface ProblemSources {
  /** What has failed and is tried again, with its attempts. */
  readonly failures: () => readonly RoutingProblem[];
  /** What trying does not mend. */
  readonly lasting: () => Iterable<readonly [subject: string, reason: string]>;
}

/** See the file's comment. */
export class Problems {
  readonly #clock: Clock;
  readonly #sources: ProblemSources;
  readonly #onEvent: (event: ProblemEvent) => void;
  readonly #faults = new Map<string, RoutingProblem>();
  #told: ReadonlyMap<string, RoutingProblem> = new Map();

  constructor(clock: Clock, sources: ProblemSources, onEvent: (event: ProblemEvent) => void) {
    this.#clock = clock;
    this.#sources = sources;
    this.#onEvent = onEvent;
  }

  /** Something failed as a whole (again). */
  add(subject: string, error: unknown): void {
    const before = this.#faults.get(subject);
    const reason = error instanceof Error ? error.message : String(error);
    const since = before?.since ?? this.#clock.now();
    this.#faults.set(subject, { subject, reason, since, attempts: (before?.attempts ?? 0) + 1 });
    this.tell();
  }

  /** It did not fail this time. It is told by the next {@link tell}. */
  solve(subject: string): void {
    this.#faults.delete(subject);
  }

  /** All there are. */
  list(): readonly RoutingProblem[] {
    const { failures, lasting } = this.#sources;
    const now = this.#clock.now();
    return [
      ...this.#faults.values(),
      ...failures(),
      ...Array.from(lasting(), ([subject, reason]) => {
        return { subject, reason, since: this.#told.get(subject)?.since ?? now, attempts: 0 };
      }),
    ];
  }

  /** Tells what is otherwise than when it was told last. */
  tell(): void {
    const now = new Map(this.list().map((problem) => [problem.subject, problem]));
    for (const [subject, problem] of now) {
      if (this.#told.get(subject)?.reason !== problem.reason) this.#onEvent({ kind: 'problem', problem });
    }
    for (const subject of this.#told.keys())
      if (!now.has(subject)) this.#onEvent({ kind: 'solved', subject });
    this.#told = now;
  }
}
