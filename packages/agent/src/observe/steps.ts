/** Where the time of a call goes: the parts that are not the plugin's own code, as they begin and end. */
import type { Plugin } from '@heddle/cni/plugin';

/**
 * What a part of a call is: waiting until nobody else works on the attachment, a plugin that it delegates to, a request
 * to the kernel. The same words are labels of metrics and names of spans.
 */
export type StepName = 'turn' | 'delegate' | 'kernel';

/** A part of a call that has ended. */
export interface Step {
  readonly name: StepName;
  /** What it was, where there are several: the delegate's type. */
  readonly detail?: string;
  /** Milliseconds of the call's clock. */
  readonly began: number;
  readonly ended: number;
}

/** Collects the steps of one call. */
export class StepLog {
  readonly #steps: Step[] = [];
  readonly #now: () => number;

  /** @param now a clock that only goes forward, in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** All that have ended, in the order of their ends. */
  get steps(): readonly Step[] {
    return this.#steps;
  }

  /** Notes a step that begins; it ends when the result is called. */
  begin(name: StepName, detail?: string): () => void {
    const began = this.#now();
    return () => {
      const ended = this.#now();
      this.#steps.push(detail === undefined ? { name, began, ended } : { name, began, ended, detail });
    };
  }

  /** Notes a step around a function. */
  async around<T>(name: StepName, run: () => Promise<T>, detail?: string): Promise<T> {
    const end = this.begin(name, detail);
    try {
      return await run();
    } finally {
      end();
    }
  }

  /** A plugin whose verbs are steps. */
  delegate(plugin: Plugin): Plugin {
    const { type } = plugin;
    return {
      ...plugin,
      add: (call) => this.around('delegate', () => plugin.add(call), type),
      del: (call) => this.around('delegate', () => plugin.del(call), type),
      check: (call) => this.around('delegate', () => plugin.check(call), type),
      gc: (call) => this.around('delegate', () => plugin.gc(call), type),
      status: (call) => this.around('delegate', () => plugin.status(call), type),
    };
  }
}

/**
 * How long each kind of step took in one call. Those that overlap count once: requests to the kernel can be under way
 * at the same time.
 *
 * @returns milliseconds by name
 */
export function stepTimes(steps: readonly Step[]): ReadonlyMap<StepName, number> {
  const times = new Map<StepName, number>();
  const reached = new Map<StepName, number>();
  const inOrder = isInOrder(steps) ? steps : steps.toSorted((a, b) => a.began - b.began);
  for (let at = 0; at < inOrder.length; at++) {
    const { name, began, ended } = inOrder[at] as Step;
    const from = Math.max(began, reached.get(name) ?? 0);
    if (ended <= from) continue;
    times.set(name, (times.get(name) ?? 0) + ended - from);
    reached.set(name, ended);
  }
  return times;
}

/** Mostly one step begins when the one before has ended. */
function isInOrder(steps: readonly Step[]): boolean {
  for (let at = 1; at < steps.length; at++) {
    if ((steps[at - 1] as Step).began > (steps[at] as Step).began) return false;
  }
  return true;
}
