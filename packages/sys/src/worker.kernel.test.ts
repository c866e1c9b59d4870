import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { O } from './constants.ts';
import { openFile } from './file.ts';
import { flock, flockAsync } from './lock.ts';
import { createNetns, currentNetns } from './netns.ts';
import { dumpLinks } from './testing/messages.ts';
import { entry, runProgram } from './testing/program.ts';
import { routeSocket } from './testing/route-socket.ts';
import { scratchDirectory } from './testing/scratch.ts';
import { transact } from './transact.ts';

const prelude = `
  import { parentPort } from 'node:worker_threads';
  import * as sys from ${JSON.stringify(entry)};
  import { dumpLinks } from ${JSON.stringify(new URL('./testing/messages.ts', import.meta.url).href)};
  const { AF, SOCK, O } = sys;
`;

test('workers have threads, errors and namespaces of their own', async () => {
  using own = currentNetns();
  const workers = Array.from({ length: 3 }, () =>
    worker(`
      using netns = sys.createNetns();
      using route = sys.socket({ family: AF.NETLINK, type: SOCK.RAW, netns });
      const answers = await Promise.all(Array.from({ length: 50 }, () => sys.transact(route, dumpLinks)));
      const inside = sys.runInNetns(netns, () => { using current = sys.currentNetns(); return current.key; });
      let refused = false;
      try { sys.openNetns('/none'); } catch (error) { refused = sys.SysError.is(error, 'ENOENT'); }
      using back = sys.currentNetns();
      parentPort.postMessage([answers.every((parts) => parts.length === 2), inside === netns.key, refused, back.key]);
    `),
  );
  const ends = workers.map((each) => once(each, 'exit'));
  const results = await Promise.all(workers.map(async (each) => (await once(each, 'message'))[0]));
  for (const result of results) assert.deepEqual(result, [true, true, true, own.key]);
  await Promise.all(ends);
});

test('a worker can be ended in the middle of everything', async () => {
  using directory = scratchDirectory();
  const lock = join(directory.path, 'lock');
  using holder = openFile(lock, O.RDWR | O.CREAT, 0o600);
  flock(holder, 'exclusive');
  for (let round = 0; round < 5; round++) {
    const busy = worker(`
      const netns = sys.createNetns();
      const route = sys.socket({ family: AF.NETLINK, type: SOCK.RAW, netns });
      const inotify = sys.inotifyCreate();
      sys.inotifyAdd(inotify, ${JSON.stringify(directory.path)}, 0xfff);
      sys.watch(inotify, () => sys.inotifyDrain(inotify));
      const open = () => sys.openFile(${JSON.stringify(lock)}, O.RDWR, 0);
      for (let i = 0; i < 5; i++) void sys.flockAsync(open(), 'exclusive');
      const work = () => sys.transact(route, dumpLinks).then(work);
      for (let i = 0; i < 20; i++) void work();
      parentPort.postMessage('busy');
    `);
    await once(busy, 'message');
    for (let i = 0; i < 20; i++) openFile(lock, O.RDWR).close();
    await busy.terminate();
  }
  // Nothing is broken here, and no thread of the workers waits for the lock any more.
  using netns = createNetns();
  using route = routeSocket(netns);
  assert.equal((await transact(route, dumpLinks)).length, 2);
  flock(holder, 'unlock');
  using other = openFile(lock, O.RDWR);
  await flockAsync(other, 'exclusive');
});

test('a worker that is ended inside a namespace does not break the others', async () => {
  using own = currentNetns();
  const inside = worker(`
    const netns = sys.createNetns();
    sys.runInNetns(netns, () => { parentPort.postMessage('inside'); for (;;); });
  `);
  await once(inside, 'message');
  await inside.terminate();
  using still = currentNetns();
  assert.ok(still.sameAs(own));
});

test('a program ends at once, whatever its threads wait for', () => {
  using directory = scratchDirectory();
  const lock = JSON.stringify(join(directory.path, 'lock'));
  const { status, stdout } = runProgram(`
    import { flock, flockAsync, inotifyCreate, O, openFile, watch } from ${JSON.stringify(entry)};
    flock(openFile(${lock}, O.RDWR | O.CREAT, 0o600), 'exclusive');
    void flockAsync(openFile(${lock}, O.RDWR), 'exclusive');
    watch(inotifyCreate(), () => undefined);
    setImmediate(() => { console.log('bye'); process.exit(7); });
  `);
  assert.deepEqual([status, stdout], [7, 'bye\n']);
});

function worker(body: string): Worker {
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(prelude + body)}`));
}
