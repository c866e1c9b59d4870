import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { ShellPlugin } from '../testing/shell-plugin.ts';

for (const [what, daemon, words] of [
  ['ends at once', 'false', /the daemon ended at once, with exit code 1: false/],
  ['is killed at once', "/bin/sh -c 'kill -KILL $$'", /the daemon ended at once, by SIGKILL: /],
] as const) {
  test(`a kit whose daemon ${what} says so, and ends`, async () => {
    using plugin = new ShellPlugin('ipam');
    const options = { program: plugin.program, kind: 'ipam', daemon, ready: '/run/nobody-makes-this' };
    const script = `
      import { checkPlugin } from '${new URL('../run.ts', import.meta.url)}';
      await checkPlugin({ ...${JSON.stringify(options)}, env: process.env }).catch(({ message }) => console.log(message));`;
    const kit = spawn(process.execPath, ['--conditions=source', '--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said: string[] = [];
    kit.stdout.setEncoding('utf8').on('data', (text: string) => void said.push(text));
    const [exitCode] = await once(kit, 'close');
    assert.equal(exitCode, 0);
    assert.match(said.join(''), words);
  });
}
