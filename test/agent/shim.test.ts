import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { encodeAnswer, readHandover } from '@heddle/cni/runtime';
import { PLUGINS } from '@heddle/plugins';
import { buildShim } from '../../scripts/build-shim.ts';
import { CONFIG, ShimLab, type ShimOutcome } from './shim-lab.ts';

/** Waits for the whole request before anything is done. */
function onRequest(answer: (socket: Socket, request: Uint8Array) => void): (socket: Socket) => void {
  return (socket) => {
    const portions: Buffer[] = [];
    socket.on('data', (bytes: Buffer) => {
      portions.push(bytes);
      const request = Buffer.concat(portions);
      try {
        readHandover(request);
      } catch {
        return;
      }
      answer(socket, request);
    });
  };
}

function errorIn({ exitCode, stdout }: ShimOutcome): { code: number; msg: string } {
  assert.equal(exitCode, 1, stdout);
  return JSON.parse(stdout);
}

const standalone = (command: string) => ({
  ...{ exitCode: 0, signal: null, stderr: '' },
  stdout: `standalone ${command} 0 \n${CONFIG}`,
});

test('the request says what was called, with which environment and input, and in which namespace', async () => {
  await using lab = new ShimLab();
  let request: Uint8Array = new Uint8Array();
  const outcome = { exitCode: 0, stdout: '{"a":1}\n', stderr: 'a warning\n' };
  await lab.listen(
    onRequest((socket, bytes) => {
      request = bytes;
      socket.end(encodeAnswer({ verdict: 'done', outcome }));
    }),
  );
  const env = { CNI_NETNS: '/proc/self/ns/net', ODD: 'ü=\n' };
  assert.deepEqual(await lab.call({ env }), { ...outcome, signal: null });
  const { type, program, env: sent, stdin, netnsKey } = readHandover(request);
  assert.equal(type, 'bridge');
  assert.equal(program, join(lab.directory, 'heddle-shim'));
  assert.equal(sent['ODD'], 'ü=\n');
  assert.equal(sent['CNI_COMMAND'], 'ADD');
  assert.equal(Buffer.from(stdin).toString(), CONFIG);
  assert.match(netnsKey ?? '', /^\d+:\d+$/);
});

test('exit code, stdout and stderr of any size are handed on', async () => {
  await using lab = new ShimLab();
  const outcome = { exitCode: 7, stdout: 'o'.repeat(3_000_000), stderr: 'e'.repeat(1_000_000) };
  await lab.listen(onRequest((socket) => socket.end(encodeAnswer({ verdict: 'done', outcome }))));
  assert.deepEqual(await lab.call(), { ...outcome, signal: null });
});

test('an input of megabytes arrives whole, one without an end is an error', async () => {
  await using lab = new ShimLab();
  let size = 0;
  const outcome = { exitCode: 0, stdout: '', stderr: '' };
  await lab.listen(
    onRequest((socket, request) => {
      size = readHandover(request).stdin.length;
      socket.end(encodeAnswer({ verdict: 'done', outcome }));
    }),
  );
  await lab.call({ stdin: new Uint8Array(5_000_000) });
  assert.equal(size, 5_000_000);
  assert.partialDeepStrictEqual(errorIn(await lab.call({ stdin: new Uint8Array(20_000_000) })), { code: 5 });
  const endless = lab.start({ stdin: null, env: { HEDDLE_AGENT_DEADLINE_MS: '200' } });
  assert.deepEqual(errorIn(await endless.ended), {
    ...{ code: 5, msg: 'bridge: error reading from stdin: it did not end in time' },
  });
});

test('without an agent, and when it declines, the standalone program gets the same call', async () => {
  await using lab = new ShimLab();
  assert.deepEqual(await lab.call(), standalone('ADD'));
  writeFileSync(lab.socket, 'no socket');
  assert.deepEqual(await lab.call(), standalone('ADD'));
  await using declining = new ShimLab();
  await declining.listen(onRequest((socket) => socket.end(encodeAnswer({ verdict: 'declined' }))));
  for (const command of ['ADD', 'DEL', 'CHECK']) {
    assert.deepEqual(await declining.call({ command }), standalone(command));
  }
});

test('an agent that goes without having read the request cannot have begun', async () => {
  await using lab = new ShimLab();
  await lab.listen((socket) => {
    socket.pause();
    socket.destroy();
  });
  assert.deepEqual(await lab.call(), standalone('ADD'));
});

for (const [how, answer] of [
  ['goes', (socket: Socket) => void socket.end()],
  ['stops in the middle of an answer', stopsInTheMiddle],
  ['answers garbage', (socket: Socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['does not answer', () => {}],
] as const) {
  test(`after an agent that has the request and ${how}, a DEL is done anew and anything else fails`, async () => {
    await using lab = new ShimLab();
    await lab.listen(onRequest(answer));
    const env = { HEDDLE_AGENT_DEADLINE_MS: '300' };
    for (const command of ['ADD', 'CHECK', 'GC', 'STATUS']) {
      assert.deepEqual(errorIn(await lab.call({ command, env })), {
        ...{ code: 11, msg: 'bridge: the agent did not end this call: try again later' },
      });
    }
    assert.deepEqual(await lab.call({ command: 'DEL', env }), standalone('DEL'));
  });
}

test('without a standalone program a DEL is left for the agent, and anything else is to be tried again', async () => {
  await using lab = new ShimLab({ withStandalone: false });
  const { msg, code } = errorIn(await lab.call());
  assert.equal(code, 11);
  assert.match(msg, /the agent does not run, and there is no heddle-cni beside the plugin/);
  assert.deepEqual(lab.queue.read(), { dels: [], broken: [] });
  for (let time = 0; time < 2; time++) {
    assert.partialDeepStrictEqual(await lab.call({ command: 'DEL' }), { exitCode: 0, stdout: '' });
  }
  await lab.call({ command: 'DEL', type: 'host-local' });
  const { dels, broken } = lab.queue.read();
  assert.deepEqual(broken, []);
  assert.deepEqual(
    dels.map(({ call }) => [call.type, call.env['CNI_CONTAINERID'], Buffer.from(call.stdin).toString()]),
    [
      ['bridge', 'c1', CONFIG],
      ['host-local', 'c1', CONFIG],
    ],
  );
  assert.equal(readdirSync(lab.queue.directory).length, 2);
});

test('a DEL for other namespaces is never left for the agent', async () => {
  await using lab = new ShimLab({ withStandalone: false });
  await lab.listen(onRequest((socket) => socket.end(encodeAnswer({ verdict: 'declined' }))));
  assert.match(errorIn(await lab.call({ command: 'DEL' })).msg, /the agent does not serve this caller/);
  assert.deepEqual(lab.queue.read().dels, []);
});

test('a DEL that cannot be left anywhere is an error', async () => {
  await using lab = new ShimLab({ withStandalone: false });
  const env = { HEDDLE_AGENT_QUEUE: '/proc/nowhere' };
  assert.match(errorIn(await lab.call({ command: 'DEL', env })).msg, /the call could not be left for it/);
});

test('it answers VERSION, and says what it is, without an agent and without input', async () => {
  await using lab = new ShimLab({ withStandalone: false, types: [...PLUGINS.keys()] });
  for (const [type, { versions }] of PLUGINS) {
    const version = await lab.call({ type, command: 'VERSION' });
    assert.deepEqual(JSON.parse(version.stdout), { cniVersion: '1.1.0', supportedVersions: versions });
    assert.partialDeepStrictEqual(version, { exitCode: 0, stderr: '' });
    const older = await lab.call({ type, command: 'VERSION', stdin: '{ "cniVersion" : "0.4.0" }' });
    assert.deepEqual(JSON.parse(older.stdout), { cniVersion: '0.4.0', supportedVersions: versions });
    const about = await lab.call({ type, command: '' });
    assert.match(
      about.stderr,
      new RegExp(`^CNI ${type} plugin \\(Heddle\\): .*\nCNI protocol versions supported:`),
    );
  }
});

test('a daemon, and a name that is no plugin, are for the standalone program', async () => {
  await using lab = new ShimLab();
  const daemon = await lab.call({ type: 'dhcp', args: ['daemon'], stdin: '' });
  assert.equal(daemon.stdout, 'standalone ADD 1 daemon\n');
  assert.equal((await lab.call({ type: 'no-such' })).stdout, standalone('ADD').stdout);
  await using alone = new ShimLab({ withStandalone: false });
  const unknown = await alone.call({ type: 'no-such' });
  assert.equal(unknown.exitCode, 2);
  assert.match(unknown.stderr, /knows none of this name/);
});

test('whatever is at the path of CNI_NETNS does not hold it up', async () => {
  await using lab = new ShimLab();
  const fifo = join(lab.directory, 'fifo');
  const { status } = spawnSync('mkfifo', [fifo]);
  assert.equal(status, 0);
  assert.deepEqual(await lab.call({ env: { CNI_NETNS: fifo } }), standalone('ADD'));
});

test('it is small, and needs no library, not even that of C', () => {
  assert.ok(readFileSync('native/shim/shim.c', 'utf8').split('\n').length <= 450);
  // With the C library in it, it would be ten times as large.
  assert.ok(readFileSync(buildShim()).length < 64 * 1024);
});

function stopsInTheMiddle(socket: Socket): void {
  const whole = encodeAnswer({
    verdict: 'done',
    outcome: { exitCode: 0, stdout: '{}'.repeat(50), stderr: '' },
  });
  socket.end(whole.subarray(0, 60));
}
