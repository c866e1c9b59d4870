import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { askStatus } from '@heddle/agent';
import { HANDOVER_FLAG, handoverBytes } from '@heddle/cni/runtime';
import { buildCommand } from '../../scripts/build-command.ts';
import { ShimLab } from './shim-lab.ts';

const MEBIBYTE = 1024 * 1024;
/** What an agent that is idle holds, the most that it takes of requests that are not complete, and as much again for garbage. */
const MOST_MEMORY = (100 + 2 * 64) * MEBIBYTE;

/** Clients that do harm, and how many of each. */
const HOSTILE: readonly (readonly [count: number, what: string, talk: (socket: Socket) => void])[] = [
  [300, 'say nothing', () => {}],
  [40, 'begin a header', (socket) => socket.write(request().subarray(0, 30))],
  [40, 'talk another protocol', (socket) => socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(100))],
  [
    30,
    'send most of a large request',
    (socket) => socket.write(request(15 * MEBIBYTE).subarray(0, 14 * MEBIBYTE)),
  ],
  [20, 'announce more than is taken', (socket) => socket.write(tooLarge())],
  [20, 'send a byte at a time', dribble],
  [
    40,
    'ask, and do not read the answer',
    (socket) => socket.pause().write(request(0, HANDOVER_FLAG.METRICS)),
  ],
  [20, 'send a chain that is none', (socket) => socket.write(request(1000, HANDOVER_FLAG.CHAIN))],
  [20, 'go at once', (socket) => socket.destroy()],
];

test('hundreds of hostile clients hold up no call, and cost the agent little', async () => {
  buildCommand();
  await using lab = new ShimLab({ withStandalone: false, types: ['static'] });
  const env = { ...process.env, HEDDLE_AGENT_SOCKET: lab.socket, HEDDLE_AGENT_QUEUE: lab.queue.directory };
  const agent = spawn(resolve('bin/heddle'), ['agent', '--log-level', 'error'], { env, stdio: 'ignore' });
  lab.after(() => void agent.kill('SIGKILL'));
  const { pid } = await askWhenUp(lab.socket);
  const descriptors = () => readdirSync(`/proc/${pid}/fd`).length;
  const before = descriptors();

  const sockets = HOSTILE.flatMap(([count, , talk]) =>
    Array.from({ length: count }, () => {
      const socket = connect(lab.socket, () => talk(socket));
      socket.on('error', () => {});
      return socket;
    }),
  );
  await sleep(100);
  const began = performance.now();
  const calls = await Promise.all(Array.from({ length: 20 }, (_, index) => addStatic(lab, index)));
  const took = performance.now() - began;
  for (const { stdout } of calls) assert.match(stdout, /"address": "192\.0\.2\.1\/24"/);

  for (const socket of sockets) socket.destroy();
  while ((await askStatus(lab.socket)).clients > 1) await sleep(10);
  const { troubles, calls: served } = await askStatus(lab.socket);
  assert.equal(served['ADD']?.done, 20);
  assert.ok(troubles > 200, `${troubles} troubles`);
  assert.ok(descriptors() <= before + 2, `${descriptors()} descriptors, ${before} before`);
  const peak = peakMemory(pid);
  assert.ok(peak <= MOST_MEMORY, `${peak / MEBIBYTE} MiB`);
  console.log(
    `${sockets.length} hostile clients; 20 calls took ${took.toFixed(0)} ms, at most ${(peak / MEBIBYTE).toFixed(0)} MiB`,
  );
});

function request(stdin = 0, flags = 0): Uint8Array {
  return handoverBytes({
    type: 'static',
    program: '/opt/cni/bin/static',
    flags,
    stdin: new Uint8Array(stdin),
  });
}

/** A header that announces 4 GiB. */
function tooLarge(): Uint8Array {
  const bytes = Buffer.from(request());
  bytes.writeUInt32LE(0xffff_ffff, 16);
  return bytes;
}

function dribble(socket: Socket): void {
  const bytes = request();
  let at = 0;
  const timer = setInterval(() => socket.write(bytes.subarray(at, ++at)), 20);
  socket.on('close', () => clearInterval(timer));
}

async function addStatic(lab: ShimLab, index: number) {
  const ipam = { type: 'static', addresses: [{ address: '192.0.2.1/24' }] };
  return await lab.call({
    type: 'static',
    stdin: JSON.stringify({ cniVersion: '1.1.0', name: 'n1', type: 'static', ipam }),
    env: { CNI_CONTAINERID: `c${index}`, CNI_NETNS: '/proc/self/ns/net', CNI_NETNS_OVERRIDE: '1' },
  });
}

async function askWhenUp(socket: string) {
  for (;;) {
    try {
      return await askStatus(socket);
    } catch {
      await sleep(20);
    }
  }
}

/** The most that was ever resident — proc(5), VmHWM. */
function peakMemory(pid: number): number {
  const [, kibibytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
