/** The lab itself. Each test boots a machine. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type GuestRun, hasEmulator, runInGuest } from './boot.ts';
import { findKernel } from './kernel.ts';

const kernel = hasEmulator() ? findKernel() : undefined;
const skip = kernel === undefined && 'not installed: the lab, or this kernel has no need of it';

async function inGuest(script: string, more: Partial<GuestRun> = {}) {
  assert.ok(kernel !== undefined);
  const said = { output: '', error: '', report: '' };
  const status = await runInGuest(kernel, {
    command: ['sh', '-c', script],
    directory: '/usr/lib',
    environment: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', GREETING: 'hello' },
    terminal: false,
    onOutput: (bytes) => {
      said.output += bytes;
    },
    onError: (bytes) => {
      said.error += bytes;
    },
    onReport: (bytes) => {
      said.report += bytes;
    },
    ...more,
  });
  return { status, ...said };
}

test('a command has its directory, environment and outputs, and its status comes back', {
  skip,
}, async () => {
  const file = '/usr/written-in-the-lab';
  const script = `pwd; echo $GREETING >&2; echo report >&3; echo kept >${file} && cat ${file}; uname -r; exit 7`;
  assert.deepEqual(await inGuest(script), {
    status: 7,
    output: `/usr/lib\nkept\n${kernel?.release}\n`,
    error: 'hello\n',
    report: 'report\n',
  });
  assert.equal(existsSync(file), false);
});

test('much output is complete, also from what outlives the command; a signal is a status', {
  skip,
}, async () => {
  const { status, output } = await inGuest('sleep 1000 & seq 1 300000; kill -9 $$');
  assert.equal(status, 137);
  assert.deepEqual(output.split('\n').slice(-3), ['299999', '300000', '']);
  assert.equal(output.split('\n').length, 300001);
});

test('a machine that panics, or takes too long, is an error with the end of its console', {
  skip,
}, async () => {
  await assert.rejects(inGuest('echo c >/proc/sysrq-trigger; sleep 1000'), /ended too soon.*sysrq/s);
  await assert.rejects(inGuest('sleep 1000', { limit: 8 }), /ended too soon.*not ended after 8/s);
});

test('the machine ends with the process that started it, however that ends', { skip }, async () => {
  const main = spawn(process.execPath, ['--conditions=source', MAIN, 'sh', '-c', 'echo up; sleep 1000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const _ of main.stdout) break;
  const { pid = 0 } = main;
  const machine = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
  assert.match(readFileSync(`/proc/${machine}/cmdline`, 'utf8'), /^qemu/);
  main.kill('SIGKILL');
  await new Promise((end) => main.once('exit', end));
  for (let tries = 0; tries < 500 && !hasEnded(machine); tries++)
    await new Promise((end) => setTimeout(end, 10));
  assert.ok(hasEnded(machine));
});

const MAIN = new URL('main.ts', import.meta.url).pathname;

/** Also when nobody has waited for it yet. */
function hasEnded(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}
