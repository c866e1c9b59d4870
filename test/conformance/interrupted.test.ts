/** An interrupted run of the kit on a runtime leaves nothing running. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

/** A runtime whose ADD leaves a daemon behind and then hangs, and whose `clean` ends the daemon. */
class HangingRuntime implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'heddle-hanging-'));
  readonly program = join(this.directory, 'runtime');

  constructor() {
    const script = `#!/bin/sh
cd ${this.directory}
case $1 in
  add) setsid sleep 600 </dev/null >/dev/null 2>&1 & echo $! >daemon; echo $$ >call.new; mv call.new call; exec sleep 600;;
  clean) kill "$(cat daemon)"; touch cleaned;;
esac
`;
    writeFileSync(this.program, script, { mode: 0o755 });
  }

  has(name: string): boolean {
    return existsSync(join(this.directory, name));
  }

  pid(name: string): number {
    return Number(readFileSync(join(this.directory, name), 'utf8'));
  }

  [Symbol.dispose](): void {
    for (const name of ['daemon', 'call'])
      if (this.has(name) && sleeps(this.pid(name))) process.kill(this.pid(name));
    rmSync(this.directory, { recursive: true });
  }
}

function sleeps(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'sleep';
  } catch {
    return false;
  }
}

/** Interrupts the kit while the runtime hangs. @returns how the kit ended */
async function interrupt(kit: ChildProcess, runtime: HangingRuntime): Promise<number | null> {
  while (!runtime.has('call')) {
    assert.equal(kit.exitCode, null, 'the kit ended before it was interrupted');
    await sleep(10);
  }
  const ended = once(kit, 'exit');
  kit.kill('SIGTERM');
  const [exitCode] = (await ended) as [number | null];
  return exitCode;
}

test('a kit that is interrupted ends the runtime that hangs, and has it clean up', async () => {
  using runtime = new HangingRuntime();
  const script = `
    import { checkRuntime } from '@heddle/conformance';
    const interruption = new AbortController();
    process.on('SIGTERM', () => interruption.abort(new Error('interrupted')));
    const options = { template: '${runtime.program} {verb}', cleans: true, env: process.env };
    await checkRuntime({ ...options, signal: interruption.signal }).catch(({ message }) => {
      process.exitCode = message === 'interrupted' ? 7 : 8;
    });`;
  const kit = spawn(process.execPath, ['--conditions=source', '--input-type=module', '--eval', script], {
    stdio: 'inherit',
  });
  assert.equal(await interrupt(kit, runtime), 7);
  assert.ok(runtime.has('cleaned'));
  for (const name of ['call', 'daemon']) while (sleeps(runtime.pid(name))) await sleep(10);
});

test('the command says that it was interrupted, and leaves no call of the runtime', async () => {
  using runtime = new HangingRuntime();
  const command = resolve('packages/cli/src/main.ts');
  const args = ['--conditions=source', command, 'conformance', '--runtime', `${runtime.program} {verb}`];
  const kit = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  kit.stderr.setEncoding('utf8').on('data', (piece: string) => (said += piece));
  assert.equal(await interrupt(kit, runtime), 1);
  assert.match(said, /interrupted: not all checks were run/);
  while (sleeps(runtime.pid('call'))) await sleep(10);
});
