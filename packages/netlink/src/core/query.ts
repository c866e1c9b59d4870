/** Questions to the kernel that share a send with changes and with one another. */
import type { Change } from './change.ts';
import type { Reply } from './message.ts';
import type { NetlinkError } from './netlink-error.ts';

/** How the kernel answered one message of several. */
export interface Answer {
  /** What came but for the acknowledgement. */
  readonly replies: readonly Reply[];
  /** Its refusal. */
  readonly error?: NetlinkError;
  /** Of a dump: the table changed meanwhile. */
  readonly interrupted: boolean;
}

/** A question, not yet asked: what `ask` methods give and `together` takes. */
export interface Query<T> {
  readonly message: Change;
  /** What the answer says. @throws {NetlinkError} for a refusal that is no answer */
  read(answer: Answer): T;
}

/** A change or a question. */
export type Step = Change | Query<unknown>;

/** What each of several steps gives: nothing for a change. */
export type Outcomes<S extends readonly Step[]> = {
  readonly [K in keyof S]: S[K] extends Query<infer T> ? T : undefined;
};

/** The request that carries a step out. */
export function messageOf(step: Step): Change {
  return typeof step === 'function' ? step : step.message;
}

/** What an answer says about a step. @throws {NetlinkError} for a refusal */
export function outcomeOf(step: Step, answer: Answer): unknown {
  if (typeof step !== 'function') return step.read(answer);
  if (answer.error !== undefined) throw answer.error;
  return undefined;
}
