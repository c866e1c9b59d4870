/** Nothing is left open, also when things fail. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AF, O, SOCK } from './constants.ts';
import { openFile, readFileIn, writeFileIn } from './file.ts';
import { inotifyAdd, inotifyCreate, inotifyDrain } from './inotify.ts';
import { flock, flockAsync } from './lock.ts';
import { bindNetns, createNetns, openNetns, runInNetns, unbindNetns } from './netns.ts';
import { socket } from './socket.ts';
import { dumpLinks } from './testing/messages.ts';
import { routeSocket } from './testing/route-socket.ts';
import { openDescriptors, scratchDirectory } from './testing/scratch.ts';
import { transact, transactSync } from './transact.ts';
import { watch } from './watch.ts';

test('descriptors and threads are as they were', async () => {
  using directory = scratchDirectory();
  await everything(directory.path); // starts what is started once
  const before = [openDescriptors(), threads()];
  for (let round = 0; round < 100; round++) await everything(directory.path);
  assert.deepEqual([openDescriptors(), threads()], before);
});

async function everything(directory: string): Promise<void> {
  const path = join(directory, 'netns');
  using netns = createNetns();
  bindNetns(netns, path);
  openNetns(path).close();
  unbindNetns(path);
  assert.throws(() => openNetns('/proc/self/ns/mnt'));
  assert.throws(() => openNetns(directory));
  assert.throws(() => bindNetns(netns, directory));
  assert.throws(() => socket({ family: 46, type: SOCK.RAW, netns }));
  assert.throws(() => readFileIn(netns, directory));
  assert.throws(() => writeFileIn(netns, '/proc/sys/net/ipv6/conf/all/hop_limit', 'many'));
  runInNetns(netns, () => socket({ family: AF.INET6, type: SOCK.DGRAM })).close();

  using route = routeSocket(netns);
  assert.equal(transactSync(route, dumpLinks).length, 2);
  assert.equal((await transact(route, dumpLinks)).length, 2);

  const lock = join(directory, 'lock');
  using holder = openFile(lock, O.RDWR | O.CREAT, 0o600);
  using waiter = openFile(lock, O.RDWR);
  flock(holder, 'exclusive');
  await assert.rejects(flockAsync(waiter, 'exclusive', { signal: AbortSignal.timeout(1) }));

  using inotify = inotifyCreate();
  inotifyAdd(inotify, directory, 0x100);
  using _watching = watch(inotify, () => inotifyDrain(inotify));
}

function threads(): number {
  return readdirSync('/proc/self/task').length;
}
