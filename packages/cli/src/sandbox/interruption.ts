import type { SignalSource } from '../surroundings.ts';
import { exitCodeOf, FORWARDED } from './command.ts';

/**
 * Keeps signals from ending this process before it has cleaned up. One that arrives before the command has
 * started ends the attaching; from then on they are the command's business; while detaching they wait.
 */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly #listening: Disposable;
  #arrived: NodeJS.Signals | undefined;
  #hasStarted = false;

  constructor(signals: SignalSource) {
    this.#listening = signals.listen(FORWARDED, (signal) => {
      if (this.#hasStarted) return;
      this.#arrived ??= signal;
      this.#controller.abort(new Error(`interrupted by ${signal}`));
    });
  }

  /** Aborts when a signal arrives before the command has started. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The exit code that tells of that signal. */
  get exitCode(): number | undefined {
    return this.#arrived === undefined ? undefined : exitCodeOf(this.#arrived);
  }

  /** Starts the command, unless a signal has arrived, which then gives the exit code. */
  async unless(start: () => Promise<number>): Promise<number> {
    if (this.exitCode !== undefined) return this.exitCode;
    this.#hasStarted = true;
    return await start();
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }
}
