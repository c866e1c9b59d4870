import { setTimeout as sleep } from 'node:timers/promises';

/** How much longer it may take where looking takes time itself, as it does on a busy machine. */
const PATIENCE = 10;

/**
 * Asks again and again until there is an answer.
 *
 * @param ask gives `undefined`, or throws, as long as there is none
 * @param seconds for how long, where asking takes no time
 * @throws the last error, or one that says what was waited for
 */
export async function until<T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  seconds = 30,
): Promise<T> {
  let last: unknown = new Error(`waited in vain for ${what}`);
  const end = performance.now() + seconds * 1000 * PATIENCE;
  for (let tries = 0; tries < seconds * 20 && performance.now() < end; tries++) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      last = error;
    }
    await sleep(50);
  }
  throw last;
}
