/**
 * Runs the tests: first those that need nothing, in one process; then those that use the kernel, one process
 * a file, in a sandbox. Arguments choose files whose path contains one of them.
 */
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { enterSandbox } from './sandbox.ts';

interface Tally {
  passed: number;
  failed: number;
  readonly skipped: Map<string, string>;
}

enterSandbox();

const wanted = process.argv.slice(2);
const chosen = (path: string) => wanted.length === 0 || wanted.some((part) => path.includes(part));
const all = ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts', 'test/**/*.test.ts']
  .flatMap((pattern) => globSync(pattern))
  .filter(chosen)
  .sort();
const needsKernel = (path: string) => path.endsWith('.kernel.test.ts') || path.startsWith('test/');
const tally: Tally = { passed: 0, failed: 0, skipped: new Map() };

await runFiles(
  all.filter((path) => !needsKernel(path)),
  { isolation: 'none' },
);
await runFiles(all.filter(needsKernel), {
  isolation: 'process',
  concurrency: Math.max(2, availableParallelism()),
});

const { passed, failed, skipped } = tally;
for (const [name, reason] of skipped) console.log(`skipped: ${name}: ${reason}`);
const installable = [...skipped].filter(([, reason]) => reason.startsWith('not installed'));
if (installable.length > 0 && process.env['CI'] !== undefined) {
  console.log(`${installable.length} skips are for programs that can be installed: that is a failure here`);
}
console.log(`${passed} passed, ${failed} failed, ${skipped.size} skipped`);
const ok = failed === 0 && passed > 0 && (installable.length === 0 || process.env['CI'] === undefined);
process.exit(ok ? 0 : 1);

async function runFiles(
  files: readonly string[],
  how: { isolation: 'none' | 'process'; concurrency?: number },
): Promise<void> {
  if (files.length === 0) return;
  process.env['NODE_OPTIONS'] = '--conditions=source';
  const events = run({ files: files.map((file) => resolve(file)), ...how });
  events.on('test:pass', ({ name, file, skip, details }) => {
    if (details.type === 'suite') return;
    if (skip !== undefined && skip !== false) tally.skipped.set(`${file ?? ''} ${name}`, String(skip));
    else if (file === undefined || !file.endsWith(name)) tally.passed++;
  });
  events.on('test:fail', () => {
    tally.failed++;
  });
  const report = events.compose(spec);
  report.pipe(process.stdout);
  await new Promise((end) => report.once('end', end));
}
