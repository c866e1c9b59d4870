import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { askStatus } from '@heddle/agent';
import { AF, bind, listen, SOCK, socket } from '@heddle/sys';
import { ShimLab } from './shim-lab.ts';

const AGENT = [process.execPath, '--conditions=source', resolve('packages/cli/src/main.ts'), 'agent'];

/** Starts `heddle agent` as systemd does: its socket is open, and told of by the environment. */
function activated(lab: ShimLab, descriptor: number) {
  const env = { ...process.env, LISTEN_FDS: '1', HEDDLE_AGENT_QUEUE: lab.queue.directory };
  // The process's own number is known only inside.
  const child = spawn('sh', ['-c', 'LISTEN_PID=$$ exec "$@"', 'sh', ...AGENT], {
    env,
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
  });
  const ended = new Promise<number | null>((done) => child.on('exit', done));
  return { child, ended };
}

test('callers wait at a socket of systemd while the agent restarts, and none is sent away', async () => {
  await using lab = new ShimLab({ withStandalone: false });
  using listener = socket({ family: AF.UNIX, type: SOCK.STREAM });
  // struct sockaddr_un
  bind(listener, Buffer.concat([Uint8Array.of(AF.UNIX, 0), Buffer.from(`${lab.socket}\0`)]));
  listen(listener, 16);
  const { ino } = statSync(lab.socket);
  const early = lab.call({ command: 'DEL', type: 'host-local' });
  for (let restart = 0; restart < 2; restart++) {
    const { child, ended } = activated(lab, listener.number);
    const { pid } = await askStatus(lab.socket, 20_000);
    assert.equal(pid, child.pid);
    child.kill('SIGTERM');
    assert.equal(await ended, 0);
  }
  // It was done by an agent, not left for one.
  assert.partialDeepStrictEqual(await early, { exitCode: 0 });
  assert.deepEqual(lab.queue.read().dels, []);
  assert.equal(statSync(lab.socket).ino, ino);
});
