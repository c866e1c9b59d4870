import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks again and again until there is an answer.
 *
 * @param ask gives `undefined`, or throws, as long as there is none
 * @throws the last error, or one that says what was waited for, after ten seconds
 */
export async function until<T>(what: string, ask: () => T | undefined | Promise<T | undefined>): Promise<T> {
  let last: unknown = new Error(`waited in vain for ${what}`);
  for (let tries = 0; tries < 200; tries++) {
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
