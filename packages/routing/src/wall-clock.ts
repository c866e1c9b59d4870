/** What is told by a clock that may be set while durations are told by it. */
import type { Clock } from './clock.ts';

/** A time in which nobody set the clock, in monotonic milliseconds. */
interface Stretch {
  /** What the clock shows beyond these. */
  readonly offset: number;
  readonly from: number;
}

/** By how much it may differ from one look to the next, for it is made to go faster or slower; milliseconds. */
const SLEW = 1_000;
/** For how long it matters what the clock showed before it was set, in milliseconds: nobody waits longer for anything. */
const REMEMBERED = 3_600_000;

/**
 * Moments that nodes write down are milliseconds since the epoch, for other nodes and later processes have to make sense of
 * them. How long ago one was, this says even if the clock was set since: it remembers what it showed before.
 *
 * @example
 * const clock = new WallClock(systemClock);
 * const at = clock.now();
 * // … somebody sets the clock forward by a day …
 * clock.age(at); // what has passed
 */
export class WallClock {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  #present: Stretch;
  /** Those before, and when they had ended. */
  #past: readonly (Stretch & { readonly to: number })[] = [];

  /** Moments to come, and when they were asked for. */
  readonly #toCome = new Map<number, { readonly first: number; readonly last: number }>();

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
    this.#present = { offset: clock.now() - clock.monotonic(), from: -Infinity };
  }

  /** Milliseconds since the epoch, as the clock has it. */
  now(): number {
    this.#look();
    return this.#clock.now();
  }

  /**
   * How many milliseconds ago a moment was. Where the clock has shown it twice, it was the last time; where it is to come,
   * another clock has shown it, and not later than it was first asked for here.
   */
  age(moment: number): number {
    const now = this.#look();
    const ages = [...this.#past, this.#present]
      .map(({ offset, from }) => ({ from, at: moment - offset }))
      .filter(({ from, at }) => from - SLEW <= at && at - SLEW <= now)
      .map(({ at }) => Math.max(0, now - at));
    if (ages.length > 0) return Math.min(...ages);
    const age = now + this.#present.offset - moment;
    return age >= 0 ? age : now - this.#firstAsked(moment, now);
  }

  #firstAsked(moment: number, now: number): number {
    const before = this.#toCome.get(moment);
    if (before === undefined) {
      for (const [each, { last }] of this.#toCome) if (now - last >= REMEMBERED) this.#toCome.delete(each);
    }
    const first = before?.first ?? now;
    this.#toCome.set(moment, { first, last: now });
    return first;
  }

  /** @returns monotonic milliseconds */
  #look(): number {
    const now = this.#clock.monotonic();
    const offset = this.#clock.now() - now;
    const { offset: before, from } = this.#present;
    if (Math.abs(offset - before) <= SLEW) {
      this.#present = { offset, from };
    } else {
      const past = [...this.#past, { ...this.#present, to: now }];
      this.#past = past.filter(({ to }) => now - to < REMEMBERED);
      this.#present = { offset, from: now };
    }
    return now;
  }
}
