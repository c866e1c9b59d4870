import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { O } from './constants.ts';
import type { Fd } from './fd.ts';
import { openFile } from './file.ts';
import { flock, flockAsync } from './lock.ts';
import { createNetns } from './netns.ts';
import { SysError } from './sys-error.ts';
import { dumpLinks } from './testing/messages.ts';
import { routeSocket } from './testing/route-socket.ts';
import { openDescriptors, scratchDirectory } from './testing/scratch.ts';
import { transact } from './transact.ts';

test('two processes exclude each other', async () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'lock');
  using file = lockFile(path);
  const holder = await heldByChild(path);
  assert.equal(flock(file, 'exclusive', { nonblocking: true }), false);
  assert.equal(flock(file, 'shared', { nonblocking: true }), false);
  const waiting = flockAsync(file, 'exclusive');
  holder.stdin?.end();
  await waiting;
  using other = lockFile(path);
  assert.equal(flock(other, 'shared', { nonblocking: true }), false);
  assert.equal(flock(file, 'unlock'), true);
  assert.equal(flock(other, 'exclusive', { nonblocking: true }), true);
});

test('shared locks go together', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'lock');
  using first = lockFile(path);
  using second = lockFile(path);
  assert.equal(flock(first, 'shared'), true);
  assert.equal(flock(second, 'shared'), true);
  assert.equal(flock(second, 'exclusive', { nonblocking: true }), false);
});

test('a wait ends with its signal, and the lock can be used at once', async () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'lock');
  using holder = lockFile(path);
  using file = lockFile(path);
  flock(holder, 'exclusive');
  const reason = new RangeError('enough');
  await assert.rejects(flockAsync(file, 'exclusive', { signal: AbortSignal.abort(reason) }), reason);
  for (let round = 0; round < 20; round++) {
    const controller = new AbortController();
    const waiting = flockAsync(file, 'exclusive', { signal: controller.signal });
    if (round % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(reason);
    flock(holder, 'unlock');
    assert.equal(flock(file, 'exclusive', { nonblocking: true }), true);
    await assert.rejects(waiting, reason);
    assert.equal(flock(holder, 'exclusive', { nonblocking: true }), false, 'the later lock is still held');
    flock(file, 'unlock');
    flock(holder, 'exclusive');
  }
});

test('a lock that came before the abort is given back', async () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'lock');
  using holder = lockFile(path);
  using file = lockFile(path);
  flock(holder, 'exclusive');
  const controller = new AbortController();
  const waiting = flockAsync(file, 'exclusive', { signal: controller.signal });
  flock(holder, 'unlock');
  while (flock(holder, 'exclusive', { nonblocking: true })) flock(holder, 'unlock');
  controller.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
  assert.equal(flock(holder, 'exclusive', { nonblocking: true }), true);
});

test('waiters do not keep other work from running', async () => {
  using directory = scratchDirectory();
  using netns = createNetns();
  using route = routeSocket(netns);
  const path = join(directory.path, 'lock');
  const holder = lockFile(path);
  flock(holder, 'exclusive');
  const files = Array.from({ length: 30 }, () => lockFile(path));
  let held = 0;
  const waiting = files.map(async (file) => {
    await flockAsync(file, 'exclusive');
    held += 1;
    assert.equal(held, 1);
    await transact(route, dumpLinks);
    held -= 1;
    file.close();
  });
  assert.equal((await transact(route, dumpLinks)).length, 2);
  holder.close();
  await Promise.all(waiting);
});

test('a close during a wait takes effect at its end', async () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'lock');
  using holder = lockFile(path);
  flock(holder, 'exclusive');
  const before = openDescriptors();
  const file = lockFile(path);
  const waiting = flockAsync(file, 'exclusive');
  file.close();
  assert.equal(openDescriptors(), before + 1);
  flock(holder, 'unlock');
  await waiting;
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(openDescriptors(), before);
  await assert.rejects(flockAsync(file, 'shared'), (error) => SysError.is(error, 'EBADF'));
});

function lockFile(path: string): Fd {
  return openFile(path, O.RDWR | O.CREAT, 0o600);
}

/** A process that holds the lock until its input ends. */
async function heldByChild(path: string): Promise<ChildProcess> {
  const child = spawn('flock', ['--exclusive', path, 'sh', '-c', 'echo held; cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}
