/**
 * Runs the tests: first those that need nothing, in one process; then those that use the kernel, one process
 * a file, in a sandbox; then those for the lab, which has the link types that this kernel may lack. Arguments
 * choose files whose path contains one of them.
 */
import { globSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { buildCommand } from './build-command.ts';
import { buildCrash } from './build-crash.ts';
import { buildShim } from './build-shim.ts';
import { buildStandalone } from './build-standalone.ts';
import { bootableKernel } from './lab/boot.ts';
import { missingLinkKinds } from './lab/link-kinds.ts';
import { testsInGuest } from './lab/test-run.ts';
import { enterSandbox } from './sandbox.ts';
import { failureText, isSumOfOthers } from './test-failures.ts';

interface Tally {
  passed: number;
  /** What is said of each. */
  readonly failed: string[];
  readonly skipped: Map<string, string>;
}

enterSandbox();

// Without it, each process would compile all over again.
process.env['NODE_COMPILE_CACHE'] ??= resolve('build/compile-cache');
enableCompileCache();

const wanted = process.argv.slice(2);
const chosen = (path: string) => wanted.length === 0 || wanted.some((part) => path.includes(part));
const all = ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts', 'test/**/*.test.ts']
  .flatMap((pattern) => globSync(pattern))
  .filter(chosen)
  .sort();
const needsLab = (path: string) => path.endsWith('.lab.test.ts');
const needsKernel = (path: string) =>
  !needsLab(path) && (path.endsWith('.kernel.test.ts') || path.startsWith('test/'));
/** Runtimes that mount below /run/netns as if they were alone, measurements, pods of the same names, and crowds of plugins. */
const needsQuiet = (path: string) =>
  !needsLab(path) && /^test\/(cases|conformance|dhcp|interop|traffic)\/|\/faulty-plugins\./.test(path);
const tally: Tally = { passed: 0, failed: [], skipped: new Map() };

await runFiles(
  all.filter((path) => !needsKernel(path) && !needsLab(path)),
  { isolation: 'none' },
);
const eachAlone = { isolation: 'process', concurrency: Math.max(2, availableParallelism()) } as const;
await runFiles(
  all.filter((path) => needsKernel(path) && !needsQuiet(path)),
  eachAlone,
);
await runFiles(all.filter(needsQuiet), { isolation: 'process', concurrency: 1 });
await runInLab(all.filter(needsLab));

const { passed, failed, skipped } = tally;
for (const [name, reason] of skipped) console.log(`skipped: ${name}: ${reason}`);
const installable = [...skipped].filter(([, reason]) => reason.startsWith('not installed'));
if (installable.length > 0 && process.env['CI'] !== undefined) {
  console.log(`${installable.length} skips are for programs that can be installed: that is a failure here`);
}
// Last, so that the end of a log tells them.
for (const text of failed) console.log(text);
console.log(`${passed} passed, ${failed.length} failed, ${skipped.size} skipped`);
const ok = failed.length === 0 && passed > 0 && (installable.length === 0 || process.env['CI'] === undefined);
process.exit(ok ? 0 : 1);

async function runFiles(
  files: readonly string[],
  how: { isolation: 'none' | 'process'; concurrency?: number },
): Promise<void> {
  if (files.length === 0) return;
  process.env['NODE_OPTIONS'] = '--conditions=source';
  await report(run({ files: files.map((file) => resolve(file)), ...how }));
}

async function runInLab(files: readonly string[]): Promise<void> {
  const missing = missingLinkKinds();
  if (files.length === 0 || missing.length === 0) return runFiles(files, eachAlone);
  const kernel = bootableKernel();
  if (kernel === undefined) {
    const what = process.arch === 'x64' ? 'not installed: the lab' : 'the lab is for x64';
    const reason = `${what}, and this kernel lacks ${missing.join(', ')}`;
    for (const file of files) tally.skipped.set(file, reason);
    return;
  }
  console.log(`this kernel lacks ${missing.join(', ')}: ${files.length} files run on ${kernel.release}`);
  // There it would take an hour.
  if (files.some((file) => file.startsWith('test/'))) {
    buildStandalone();
    buildShim();
    buildCrash();
    buildCommand();
  }
  try {
    await report(
      testsInGuest(
        kernel,
        files.map((file) => resolve(file)),
      ),
    );
  } catch (error) {
    tally.failed.push(`failed: the lab\n    ${error}`);
  }
}

async function report(events: AsyncIterable<TestEvent>): Promise<void> {
  await pipeline(events, count, new spec(), process.stdout, { end: false });
}

async function* count(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  for await (const event of events) {
    if (event.type === 'test:pass') countPassed(event.data);
    if (event.type === 'test:fail' && !isSumOfOthers(event.data))
      tally.failed.push(failureText(event.data, process.cwd()));
    yield event;
  }
}

function countPassed({ name, file, skip, details }: Extract<TestEvent, { type: 'test:pass' }>['data']): void {
  if (details.type === 'suite') return;
  if (skip !== undefined && skip !== false) tally.skipped.set(`${file ?? ''} ${name}`, String(skip));
  else if (file === undefined || !file.endsWith(name)) tally.passed++;
}
