/** Undoing what was done: in reverse when an ADD fails, past every problem when something is taken down. */
import { ErrorList, HeddleError } from '@heddle/errors';

/**
 * The undo of every step of an ADD. A step registers its undo before or right after it acts; if anything
 * fails later they run in reverse, so that nothing is left behind.
 *
 * @example
 * await host.links.add(veth);
 * undo.push(`delete link ${veth.name}`, () => host.links.delete(veth.name));
 */
export class UndoStack {
  readonly #steps: { what: string; run: () => Promise<void> }[] = [];

  /** Registers how to take one step back; `what` says it in words. */
  push(what: string, run: () => Promise<void>): void {
    this.#steps.push({ what, run });
  }

  /** Takes every step back, the last first, and returns the problems met; absent things are no problem. */
  async unwind(): Promise<readonly string[]> {
    const problems: string[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step.run();
      } catch (error) {
        if (!isAbsent(error)) problems.push(`undo: ${step.what}: ${textOf(error)}`);
      }
    }
    return problems;
  }
}

/**
 * The steps of a DEL or GC: every one is tried, what is not there counts as done, and the problems are
 * thrown together at the end.
 */
export class Teardown {
  readonly #problems: unknown[] = [];

  /** Runs one step; a problem is kept for {@link finish}. Returns what the step gave, if it succeeded. */
  async step<T>(what: string, run: () => Promise<T> | T): Promise<T | undefined> {
    try {
      return await run();
    } catch (error) {
      if (!isAbsent(error))
        this.#problems.push(error instanceof HeddleError ? error : new StepError(what, error));
      return undefined;
    }
  }

  /** Throws the problems, if there were any. */
  finish(what: string): void {
    ErrorList.throwIfAny(what, this.#problems);
  }
}

/** True for the kernel's ways of saying that something is not there. */
export function isAbsent(error: unknown): boolean {
  return (
    error instanceof HeddleError &&
    'errno' in error &&
    typeof error.errno === 'string' &&
    ['ENOENT', 'ENODEV', 'ENXIO', 'ESRCH', 'EADDRNOTAVAIL'].includes(error.errno)
  );
}

class StepError extends HeddleError {
  override readonly code = 'STEP_FAILED';

  constructor(what: string, cause: unknown) {
    super(`${what}: ${textOf(cause)}`, { cause });
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
