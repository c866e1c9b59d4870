/** Time that passes when a test says so. */
import type { Time } from './memory-database.ts';

/** See the file's comment. */
export class ManualTime implements Time {
  #now = 0;
  #alarms: { readonly at: number; readonly run: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, run: () => void): void {
    this.#alarms.push({ at: this.#now + milliseconds, run });
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
    const due = this.#alarms.filter(({ at }) => at <= this.#now);
    this.#alarms = this.#alarms.filter(({ at }) => at > this.#now);
    for (const { run } of due) run();
  }
}
