/** What the tests of this package share. */
import { setTimeout } from 'node:timers/promises';

/** Waits until a condition holds; for long, because machines that run tests are busy. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await setTimeout(20);
  }
}
