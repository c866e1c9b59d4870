/** What the tests of this package share. */
import { setTimeout } from 'node:timers/promises';

/** Milliseconds. */
const PATIENCE = 60_000;
/** Where looking takes seconds by itself, as it does in an emulated machine, so many looks are taken nevertheless. */
const LOOKS = 100;

/** Waits until a condition holds; for long, because machines that run tests are busy. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE;
  for (let looks = 0; !(await holds()); looks++) {
    if (performance.now() > end && looks >= LOOKS) throw new Error(`waited in vain until ${what}`);
    await setTimeout(20);
  }
}
