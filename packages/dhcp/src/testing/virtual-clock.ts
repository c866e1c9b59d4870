/** Time for tests: it passes at once, and only when everybody waits for it. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../client/ports.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * A clock that jumps from one end of a sleep to the next.
 *
 * @example
 * const clock = new VirtualClock();
 * await clock.run(acquire(client, { signal })); // however many virtual seconds that takes
 */
export class VirtualClock implements Clock {
  #now = 0;
  #sleepers: Sleeper[] = [];

  now(): number {
    return this.#now;
  }

  sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const forget = () => {
      this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
    };
    const stop = () => {
      forget();
      reject(signal.reason);
    };
    const sleeper = {
      at: this.#now + Math.max(0, milliseconds),
      wake: () => {
        forget();
        signal.removeEventListener('abort', stop);
        resolve();
      },
    };
    if (signal.aborted) return Promise.reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    this.#sleepers.push(sleeper);
    return promise;
  }

  /** Lets time pass until the promise is settled. @throws {Error} when nothing is going to settle it */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = () => {
      settled = true;
    };
    promise.then(done, done);
    while (!settled) {
      await rest();
      if (settled) break;
      if (!this.#next(Infinity)) throw new Error(`nobody waits for anything at ${this.#now} ms`);
    }
    return promise;
  }

  /** Lets so much time pass. */
  async pass(milliseconds: number): Promise<void> {
    const until = this.#now + milliseconds;
    do await rest();
    while (this.#next(until));
    this.#now = until;
    await rest();
  }

  /** Wakes whoever is next, up to some moment. */
  #next(until: number): boolean {
    const [first] = this.#sleepers.toSorted((a, b) => a.at - b.at);
    if (first === undefined || first.at > until || first.at === Infinity) return false;
    this.#now = Math.max(this.#now, first.at);
    first.wake();
    return true;
  }
}

/** Until everything that can go on without waiting has done so. */
async function rest(): Promise<void> {
  for (let n = 0; n < 3; n++) await turn();
}
