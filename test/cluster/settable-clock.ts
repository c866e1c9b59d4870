/**
 * Loaded before a program of Node.js (`NODE_OPTIONS=--import …`), has its wall clock be as much ahead of the machine's as a
 * file says, in milliseconds. That of the kernel cannot be set on one node alone; what the programs measure durations by
 * stays as it is, as it does when an operator or NTP sets a clock.
 */
import { readFileSync } from 'node:fs';

const FILE = '/run/clock-ahead';

function ahead(): number {
  try {
    return Number(readFileSync(FILE, 'utf8'));
  } catch {
    // Nobody has set it.
    return 0;
  }
}

const { now } = Date;
const isNow = (values: readonly unknown[]) => values.length === 0;
globalThis.Date = new Proxy(Date, {
  get: (target, name, receiver) =>
    name === 'now' ? () => now() + ahead() : Reflect.get(target, name, receiver),
  construct: (target, values, made) =>
    Reflect.construct(target, isNow(values) ? [now() + ahead()] : values, made) as Date,
});
