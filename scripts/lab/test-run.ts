/** Runs test files in the lab, as `run` of `node:test` does here. */
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { TestEvent } from 'node:test/reporters';
import { runInGuest } from './boot.ts';
import type { Kernel } from './kernel.ts';
import { parseEventLine } from './test-events.ts';

/**
 * The events of all tests in these files, run in one process of one machine.
 *
 * @throws {Error} at the end of the iteration, when the machine or the process ended before the tests had
 */
export async function* testsInGuest(kernel: Kernel, files: readonly string[]): AsyncGenerator<TestEvent> {
  const report = new PassThrough();
  const ended = runInGuest(kernel, {
    command: [process.execPath, '--conditions=source', PROGRAM, ...files],
    directory: process.cwd(),
    environment: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/root',
      // What this machine has compiled, that one need not.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    },
    terminal: false,
    limit: LIMIT,
    onOutput: (bytes) => process.stdout.write(bytes),
    onError: (bytes) => process.stderr.write(bytes),
    onReport: (bytes) => report.write(bytes),
  }).finally(() => report.end());
  // It is waited for below, but may fail before.
  ended.catch(() => undefined);
  for await (const line of createInterface({ input: report })) yield parseEventLine(line);
  const status = await ended;
  if (status !== 0) throw new Error(`the tests in the lab ended with status ${status}`);
}

const PROGRAM = new URL('guest-tests.ts', import.meta.url).pathname;
/** Seconds, for all tests together: an emulated machine is some 20 times slower than this one. */
const LIMIT = 3600;
