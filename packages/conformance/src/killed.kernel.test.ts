import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ShellPlugin } from './testing/shell-plugin.ts';

test('a kit that is killed takes the daemon that it has started along', async () => {
  using plugin = new ShellPlugin('ipam');
  const pidFile = join(dirname(plugin.program), 'pid');
  const options = {
    program: plugin.program,
    kind: 'ipam',
    only: ['contract/version-echo', 'contract/slow-input'],
    daemon: `/bin/sh -c 'echo $$ >${pidFile}; exec sleep 600'`,
    ready: pidFile,
  };
  const script = `
    import { checkPlugin } from '${new URL('./run.ts', import.meta.url)}';
    await checkPlugin({ ...${JSON.stringify(options)}, env: process.env, onOutcome: ({ id }) => console.log(id) });`;
  const kit = spawn(process.execPath, ['--conditions=source', '--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(kit.stdout, 'data');
  const daemon = readFileSync(pidFile, 'utf8').trim();
  assert.equal(nameOf(daemon), 'sleep');
  kit.kill('SIGKILL');
  await once(kit, 'exit');
  while (nameOf(daemon) === 'sleep') await sleep(10);
});

function nameOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}
