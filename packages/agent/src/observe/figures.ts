/** Counts what the agent does. */
import { CNI_CODE, COMMANDS, type Command } from '@heddle/cni';
import type { AgentEvent, ServedCall } from '../events.ts';
import { Histogram } from './histogram.ts';
import { type StepName, stepTimes } from './steps.ts';

/** What is counted of the calls of one command to one plugin. */
export interface CallCounts {
  readonly command: Command | 'other';
  readonly plugin: string;
  /** How long they took, whether they succeeded or not. */
  readonly latency: Histogram;
  readonly steps: Map<StepName, Histogram>;
  /** How many failed, by CNI error code. */
  readonly errors: Map<number, number>;
}

/** See the file's comment. */
export class Figures {
  readonly #calls = new Map<string, CallCounts>();
  /** Calls that were left to their callers, by reason. */
  readonly declined = new Map<string, number>();
  /** What went wrong beside calls, by where. */
  readonly troubles = new Map<string, number>();
  /** DELs done from the queue, by whether they succeeded. */
  readonly replayed = new Map<'done' | 'failed', number>();

  /** Counts an event. */
  count(event: AgentEvent): void {
    switch (event.kind) {
      case 'served':
        this.#countCall(event);
        return;
      case 'declined':
        increment(this.declined, event.reason);
        return;
      case 'replayed':
        increment(this.replayed, event.outcome.exitCode === 0 ? 'done' : 'failed');
        return;
      case 'trouble':
        increment(this.troubles, event.where);
        return;
      case 'replaced':
        return;
    }
  }

  /** All calls that were served, by command and plugin. */
  get calls(): Iterable<CallCounts> {
    return this.#calls.values();
  }

  #countCall({ call, outcome, milliseconds, steps }: ServedCall): void {
    const counts = this.#countsOf(call.env['CNI_COMMAND'] ?? '', call.type);
    counts.latency.record(milliseconds);
    for (const [name, spent] of stepTimes(steps)) {
      const histogram = counts.steps.get(name) ?? new Histogram();
      counts.steps.set(name, histogram);
      histogram.record(spent);
    }
    if (outcome.exitCode !== 0) increment(counts.errors, errorCode(outcome.stdout));
  }

  #countsOf(name: string, plugin: string): CallCounts {
    // A caller can write anything there, and each new word would be a new series for ever.
    const command = COMMANDS.find((known) => known === name) ?? 'other';
    const key = `${command} ${plugin}`;
    const known = this.#calls.get(key);
    if (known !== undefined) return known;
    const counts: CallCounts = {
      command,
      plugin,
      latency: new Histogram(),
      steps: new Map(),
      errors: new Map(),
    };
    this.#calls.set(key, counts);
    return counts;
  }
}

/** The code in the error object that a plugin printed; 999, as of a defect, when there is none. */
export function errorCode(stdout: string): number {
  try {
    const { code } = JSON.parse(stdout) as { code?: unknown };
    return typeof code === 'number' ? code : CNI_CODE.INTERNAL;
  } catch {
    return CNI_CODE.INTERNAL;
  }
}

/** How many there are of all kinds. */
export function total(counts: ReadonlyMap<unknown, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function increment<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
