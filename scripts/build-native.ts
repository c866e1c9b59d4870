/**
 * Builds the addon of `@heddle/sys` with the machine's C compiler, when its sources are newer than it.
 *
 *   node scripts/build-native.ts [--sanitize] [--force]
 *
 * `--sanitize` builds a second addon with the address and undefined-behaviour sanitizers, for tests.
 * `CC` names another compiler, such as one for another architecture (then with `--force`).
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const packageRoot = fileURLToPath(new URL('../packages/sys/', import.meta.url));
const { values: options } = parseArgs({
  options: { sanitize: { type: 'boolean', default: false }, force: { type: 'boolean', default: false } },
});

const sourceDirectory = join(packageRoot, 'native');
const sources = readdirSync(sourceDirectory).map((name) => join(sourceDirectory, name));
const target = join(packageRoot, 'build', options.sanitize ? 'heddle_sys.asan.node' : 'heddle_sys.node');
const inputs = [...sources, fileURLToPath(import.meta.url)];

if (options.force || inputs.some((input) => modified(input) > modified(target))) build();

function build(): void {
  const compiler = process.env['CC'] ?? 'cc';
  const unfinished = `${target}.${process.pid}`;
  mkdirSync(join(packageRoot, 'build'), { recursive: true });
  const { error, status } = spawnSync(
    compiler,
    [...flags(), '-o', unfinished, ...sources.filter((name) => name.endsWith('.c'))],
    { stdio: 'inherit' },
  );
  if (error !== undefined) {
    fail(
      `cannot run the C compiler "${compiler}": ${error.message} (on Debian: apt-get install gcc libc6-dev)`,
    );
  }
  if (status !== 0) fail(`${compiler} could not build ${target}`);
  // A program that runs meanwhile keeps the addon that it loaded.
  renameSync(unfinished, target);
}

function flags(): readonly string[] {
  const headers: { readonly include_dir: string } = createRequire(import.meta.url)('node-api-headers');
  return [
    ...[
      '-std=c11',
      '-D_GNU_SOURCE',
      '-O2',
      '-g',
      '-Wall',
      '-Wextra',
      '-Werror',
      '-fPIC',
      '-fvisibility=hidden',
      '-pthread',
    ],
    ...['-DNAPI_VERSION=8', '-isystem', headers.include_dir],
    ...(options.sanitize
      ? ['-fsanitize=address,undefined', '-fno-sanitize-recover=all', '-fno-omit-frame-pointer']
      : []),
    // Unloading with the last worker would take the code away under a thread that is just ending.
    ...['-shared', '-Wl,-z,nodelete,-z,relro,-z,now'],
  ];
}

function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function fail(reason: string): never {
  console.error(`build-native: ${reason}`);
  process.exit(1);
}
