/** Runs the other kernel tests once more, on the addon built with the address and undefined-behaviour sanitizers. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const preload = new URL('./testing/use-addon.ts', import.meta.url).href;
const build = fileURLToPath(new URL('../../../scripts/build-native.ts', import.meta.url));
const addon = fileURLToPath(new URL('../build/heddle_sys.asan.node', import.meta.url));
const notHere = new Set(['sanitizer.kernel.test.ts', 'bun.kernel.test.ts']);

test('the sanitizers find nothing', () => {
  const files = readdirSync(here).filter((name) => name.endsWith('.kernel.test.ts') && !notHere.has(name));
  assert.ok(files.length >= 7);
  run(process.execPath, [build, '--sanitize']);
  run(
    process.execPath,
    [
      ...[
        '--conditions=source',
        `--import=${preload}`,
        '--test',
        '--test-concurrency=1',
        '--test-reporter=dot',
      ],
      ...['addon.test.ts', ...files].map((name) => join(here, name)),
    ],
    {
      HEDDLE_SYS_ADDON: addon,
      LD_PRELOAD: sanitizerLibrary(),
      // Node.js itself leaks at its end, and has signal handlers of its own.
      ASAN_OPTIONS: 'detect_leaks=0:halt_on_error=1',
      UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1',
    },
  );
});

test('the sanitized addon is really the one in use', () => {
  const { stderr, signal, status } = spawnSync(
    process.execPath,
    [
      ...['--conditions=source', `--import=${preload}`, '--input-type=module', '-e'],
      `import { native } from ${JSON.stringify(new URL('./addon.ts', import.meta.url).href)};
       native();
       const { readFileSync } = await import('node:fs');
       process.exit(readFileSync('/proc/self/maps', 'utf8').includes('/heddle_sys.asan.node') ? 0 : 1);`,
    ],
    {
      encoding: 'utf8',
      env: {
        ...environment(),
        ...{ HEDDLE_SYS_ADDON: addon, LD_PRELOAD: sanitizerLibrary(), ASAN_OPTIONS: 'detect_leaks=0' },
      },
    },
  );
  assert.deepEqual([status, signal], [0, null], stderr);
});

function run(command: string, words: readonly string[], extra: NodeJS.ProcessEnv = {}): void {
  const { status, stdout, stderr } = spawnSync(command, words, {
    encoding: 'utf8',
    env: { ...environment(), ...extra },
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
}

/** Without the mark of the running test, which would make the inner run report to it. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...rest } = process.env;
  return rest;
}

function sanitizerLibrary(): string {
  const { stdout } = spawnSync(process.env['CC'] ?? 'cc', ['-print-file-name=libasan.so'], {
    encoding: 'utf8',
  });
  return stdout.trim();
}
