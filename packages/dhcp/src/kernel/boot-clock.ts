/** The clock that leases run on. */
import { readFileSync } from 'node:fs';
import { setTimeout as timeout } from 'node:timers/promises';
import type { Clock } from '../client/ports.ts';

/**
 * The time since the machine started, sleep included (CLOCK_BOOTTIME). It is the same for all processes, and nobody
 * can set it; after a restart no moment of it means anything, and no namespace that it was about exists.
 */
export const bootClock: Clock = {
  now: () => Number(readFileSync('/proc/uptime', 'latin1').split(' ', 1)[0]) * 1000,
  async sleep(milliseconds, signal) {
    const until = bootClock.now() + milliseconds;
    // Timers stand still while the machine sleeps, and hold 24 days at most: look again now and then.
    for (let left = milliseconds; left > 0; left = until - bootClock.now()) {
      // Rejects with an error of its own, which only has the signal's reason as its cause.
      await timeout(Math.min(left, AGAIN), undefined, { signal }).catch(() => {});
      signal.throwIfAborted();
    }
    signal.throwIfAborted();
  },
};

/** Which run of the machine this is. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

const AGAIN = 60_000;
