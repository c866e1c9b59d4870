/** The lab itself. Each test boots a machine. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type GuestRun, runInGuest } from './boot.ts';
import { findKernel, type Kernel, type Machine } from './kernel.ts';
import { hasEmulator } from './qemu.ts';

const emulated = hasEmulator() ? findKernel('emulated') : undefined;
const userMode = findKernel('user-mode');
const MACHINES = [
  ['emulated', emulated, 'not installed: the lab, or this kernel has no need of it'],
  ['user-mode', userMode, 'only where HEDDLE_LAB=user-mode has brought it'],
] as const satisfies readonly (readonly [Machine, Kernel | undefined, string])[];

async function inGuest(kernel: Kernel | undefined, script: string, more: Partial<GuestRun> = {}) {
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

for (const [machine, kernel, why] of MACHINES) {
  const skip = kernel === undefined && why;
  test(`${machine}: a command has its directory, environment and outputs, and its status comes back`, {
    skip,
  }, async () => {
    const file = '/usr/written-in-the-lab';
    const script = `pwd; echo $GREETING >&2; echo report >&3; echo kept >${file} && cat ${file}; uname -r; exit 7`;
    assert.deepEqual(await inGuest(kernel, script), {
      status: 7,
      output: `/usr/lib\nkept\n${kernel?.release}\n`,
      error: 'hello\n',
      report: 'report\n',
    });
    assert.equal(existsSync(file), false);
  });

  test(`${machine}: much output is complete, also from what outlives the command; a signal is a status`, {
    skip,
  }, async () => {
    const { status, output } = await inGuest(kernel, 'sleep 1000 & seq 1 300000; kill -9 $$');
    assert.equal(status, 137);
    assert.deepEqual(output.split('\n').slice(-3), ['299999', '300000', '']);
    assert.equal(output.split('\n').length, 300001);
  });

  test(`${machine}: a machine that panics, or takes too long, is an error with the end of its console`, {
    skip,
  }, async () => {
    await assert.rejects(
      inGuest(kernel, 'echo c >/proc/sysrq-trigger; sleep 1000'),
      /ended too soon.*sysrq/s,
    );
    await assert.rejects(inGuest(kernel, 'sleep 1000', { limit: 8 }), /ended too soon.*not ended after 8/s);
  });

  test(`${machine}: the machine ends with the process that started it, however that ends`, {
    skip,
  }, async () => {
    const main = spawn(process.execPath, ['--conditions=source', MAIN, 'sh', '-c', 'echo up; sleep 1000'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, HEDDLE_LAB: machine },
    });
    for await (const _ of main.stdout) break;
    const { pid = 0 } = main;
    const started = descendants(pid);
    assert.match(readFileSync(`/proc/${started[0]}/cmdline`, 'utf8'), /^(qemu|unshare)/);
    main.kill('SIGKILL');
    await new Promise((end) => main.once('exit', end));
    for (let tries = 0; tries < 500 && !started.every(hasEnded); tries++)
      await new Promise((end) => setTimeout(end, 10));
    assert.deepEqual(
      started.filter((each) => !hasEnded(each)),
      [],
    );
  });
}

const MAIN = new URL('main.ts', import.meta.url).pathname;

function descendants(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  return children.map(Number).flatMap((child) => [child, ...descendants(child)]);
}

/** Also when nobody has waited for it yet. */
function hasEnded(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}
