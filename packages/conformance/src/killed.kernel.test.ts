import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConformanceOptions } from './run.ts';
import { ShellPlugin } from './testing/shell-plugin.ts';

for (const [what, daemon] of [
  ['the daemon that it has started', 'exec sleep 600'],
  ['a daemon with a variable before it', 'A=1 sleep 600'],
  ['what its daemon has put into a session of its own', 'setsid --fork sleep 600; exec sleep 601'],
] as const) {
  test(`a kit that is killed takes ${what} along`, async () => {
    using plugin = new ShellPlugin('ipam');
    const tag = `TAG=${plugin.program}`;
    using kit = new Kit(
      {
        program: plugin.program,
        kind: 'ipam',
        only: ['contract/version-echo', 'contract/slow-input'],
        daemon: daemon.includes(';') ? `/bin/sh -c '${daemon}'` : daemon,
      },
      tag,
    );
    await kit.firstOutcome();
    assert.ok(sleepersWith(tag) > 0);
    kit.kill();
    while (sleepersWith(tag) > 0) await sleep(10);
  });
}

test('what a plugin has put into a session of its own ends with the kit', async () => {
  using plugin = new ShellPlugin('ipam', [
    ['    claim\n', '    claim\n    setsid --fork sleep 600 >/dev/null 2>&1 </dev/null\n'],
  ]);
  const tag = `TAG=${plugin.program}`;
  using kit = new Kit({ program: plugin.program, kind: 'ipam', only: ['contract/slow-input'] }, tag);
  await kit.firstOutcome();
  assert.ok(sleepersWith(tag) > 0);
  await kit.end();
  while (sleepersWith(tag) > 0) await sleep(10);
});

/** A run of the kit in a process of its own. */
class Kit implements Disposable {
  readonly #process;

  constructor(options: Omit<ConformanceOptions, 'env'>, variable: string) {
    const script = `
      import { checkPlugin } from '${new URL('./run.ts', import.meta.url)}';
      await checkPlugin({ ...${JSON.stringify(options)}, env: process.env, onOutcome: ({ id }) => console.log(id) });`;
    this.#process = spawn(
      'env',
      [variable, process.execPath, '--conditions=source', '--input-type=module', '--eval', script],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
  }

  async firstOutcome(): Promise<void> {
    await once(this.#process.stdout, 'data');
  }

  async end(): Promise<void> {
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  [Symbol.dispose](): void {
    this.kill();
  }
}

/** How many processes called `sleep` have a variable. */
function sleepersWith(variable: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return (
        readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n' &&
        readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(variable)
      );
    } catch {
      return false;
    }
  }).length;
}
