/** How long to wait for an answer before asking again. Pure. */
import type { Random, Timing } from './ports.ts';

/**
 * Twice as long each time, up to a limit, and never quite the same, so that many clients that began together do
 * not go on together (RFC 2131 §4.1).
 *
 * @param tries how many; endless when left out, for those who watch a deadline
 */
export function* doublingWaits(
  { timeout, resendMax }: Timing,
  random: Random,
  tries = Infinity,
): Generator<number> {
  let wait = timeout;
  for (let n = 0; n < tries; n++) {
    yield fuzzy(wait, random);
    wait = Math.max(timeout, Math.min(wait * 2, resendMax));
  }
}

/**
 * Half of what is left until the deadline, each time, but a minute at least (RFC 2131 §4.4.5). A lease that is too
 * short for that still gets a few tries.
 */
export function* halvingWaits(now: () => number, deadline: number): Generator<number> {
  const shortest = Math.min(MINUTE, (deadline - now()) / 4);
  for (;;) yield Math.max((deadline - now()) / 2, shortest);
}

/** A time that differs a little from the one that was meant: a second, or a quarter where that is less. */
function fuzzy(milliseconds: number, random: Random): number {
  return milliseconds + (2 * random() - 1) * Math.min(1000, milliseconds / 4);
}

const MINUTE = 60_000;
