/** Runs test files in the lab, as `run` of `node:test` does here. */
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { TestEvent } from 'node:test/reporters';
import { runInGuest } from './boot.ts';
import type { Kernel } from './kernel.ts';
import { parseEventLine } from './test-events.ts';

/**
 * The events of all tests in these files. Each processor runs its share of the files in one machine, in one process.
 *
 * @throws {Error} at the end of the iteration, when a machine or a process ended before its tests had
 */
export async function* testsInGuest(kernel: Kernel, files: readonly string[]): AsyncGenerator<TestEvent> {
  const machines = Math.min(availableParallelism(), files.length, MOST_MACHINES);
  const reports = Array.from({ length: machines }, (_, machine) =>
    testsInOneGuest(
      kernel,
      files.filter((_, index) => index % machines === machine),
    ),
  );
  // All run at once, but are told one after the other: a reader of events minds their order.
  for (const report of reports) {
    for await (const line of createInterface({ input: report.lines })) yield parseEventLine(line);
  }
  const statuses = await Promise.all(reports.map(({ ended }) => ended));
  const bad = statuses.find((status) => status !== 0);
  if (bad !== undefined) throw new Error(`tests in the lab ended with status ${bad}`);
}

function testsInOneGuest(kernel: Kernel, files: readonly string[]) {
  const lines = new PassThrough();
  const ended = runInGuest(kernel, {
    command: [process.execPath, '--conditions=source', PROGRAM, ...files],
    directory: process.cwd(),
    environment: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/root',
      // What this machine has compiled, that one need not.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      ...choices(),
    },
    terminal: false,
    limit: 'HEDDLE_CONFORMANCE' in choices() || 'HEDDLE_CRASH' in choices() ? LONG_LIMIT : LIMIT,
    onOutput: (bytes) => process.stdout.write(bytes),
    onError: (bytes) => process.stderr.write(bytes),
    onReport: (bytes) => lines.write(bytes),
  }).finally(() => lines.end());
  // It is waited for later, but may fail before.
  ended.catch(() => undefined);
  return { lines, ended };
}

/** What this run was told to do; docs/testing.md explains the variables. */
function choices(): Readonly<Record<string, string>> {
  const named = ['HEDDLE_CONFORMANCE', 'HEDDLE_CRASH', 'HEDDLE_TEST_LANE'].map(
    (name) => [name, process.env[name]] as const,
  );
  return Object.fromEntries(named.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** Each takes up to 2 GiB. */
const MOST_MACHINES = 4;
const PROGRAM = new URL('guest-tests.ts', import.meta.url).pathname;
/** Seconds, for all tests together: an emulated machine is some 20 times slower than this one. */
const LIMIT = 3600;
/** The same where all checks, or all kills, were asked for. */
const LONG_LIMIT = 24 * 3600;
