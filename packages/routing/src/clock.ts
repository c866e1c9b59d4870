/** Time, as routing sees it: durations by a clock that nobody sets, moments only to be shown. */
import { setTimeout } from 'node:timers/promises';

/** What tells the time. */
export interface Clock {
  /** Milliseconds since the epoch; may jump. */
  readonly now: () => number;
  /** Milliseconds since some moment; never goes back. */
  readonly monotonic: () => number;
  /** Waits. @throws the signal's reason when it aborts */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** The machine's clocks. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  pause: async (milliseconds, signal) => {
    try {
      await setTimeout(milliseconds, undefined, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  },
};
