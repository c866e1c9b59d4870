import { setTimeout as sleep } from 'node:timers/promises';

const LEAST_TRIES = 20;

/**
 * Asks again and again until there is an answer.
 *
 * @param ask gives `undefined`, or throws, as long as there is none
 * @param seconds for how long
 * @throws the last error, or one that says what was waited for
 */
export async function until<T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  seconds = 10,
): Promise<T> {
  let last: unknown = new Error(`waited in vain for ${what}`);
  const end = performance.now() + seconds * 1000;
  // On a machine that is busy elsewhere the time may be over before much was asked.
  for (let tries = 0; tries < LEAST_TRIES || performance.now() < end; tries++) {
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
