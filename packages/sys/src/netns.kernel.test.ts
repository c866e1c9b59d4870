import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { native } from './addon.ts';
import { O } from './constants.ts';
import { inotifyCreate } from './inotify.ts';
import {
  bindNetns,
  createNetns,
  currentNetns,
  NetnsHandle,
  openNetns,
  runInNetns,
  shareMount,
  unbindNetns,
} from './netns.ts';
import { SysError } from './sys-error.ts';
import { dumpLinks } from './testing/messages.ts';
import { entry, runProgram } from './testing/program.ts';
import { routeSocket } from './testing/route-socket.ts';
import { scratchDirectory } from './testing/scratch.ts';
import { transact } from './transact.ts';
import { watch } from './watch.ts';

const ownNetns = '/proc/thread-self/ns/net';

test('a new namespace is another one, and its handle knows which', () => {
  const before = readlinkSync(ownNetns);
  using made = createNetns();
  using own = currentNetns();
  assert.equal(readlinkSync(ownNetns), before);
  assert.ok(!made.sameAs(own));
  assert.notEqual(made.key, own.key);
  assert.equal(before, `net:[${own.ino}]`);
  using again = openNetns(`/proc/self/fd/${made.number}`);
  assert.ok(again.sameAs(made));
  assert.equal(again.key, made.key);
});

test('a bound path names the namespace until it is unbound', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'blue');
  const made = createNetns();
  bindNetns(made, path);
  try {
    assert.equal(statSync(path).mode & 0o777, 0o444);
    assert.throws(
      () => bindNetns(made, path),
      (error) => SysError.is(error, 'EEXIST'),
    );
    const { key } = made;
    made.close();
    using opened = openNetns(path);
    assert.equal(opened.key, key);
  } finally {
    unbindNetns(path);
  }
  assert.ok(!existsSync(path));
  unbindNetns(path);
});

test('binding leaves nothing behind when it fails', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'blue');
  using made = createNetns();
  const refused = runInMountlessChild(path);
  assert.match(refused, /EPERM|EACCES/);
  assert.ok(!existsSync(path));
  assert.throws(
    () => bindNetns(made, join(directory.path, 'no', 'such', 'directory')),
    (error) => SysError.is(error, 'ENOENT'),
  );
});

test('what is no network namespace is refused by name', () => {
  using directory = scratchDirectory();
  const file = join(directory.path, 'file');
  writeFileSync(file, '');
  const message = /^unknown FS magic on ".*\/file": [0-9a-f]+$/;
  assert.throws(
    () => openNetns(file),
    (error) => SysError.is(error, 'EINVAL') && message.test(error.message) && error.path === file,
  );
  for (const other of ['/proc/self/ns/mnt', '/proc/self/status']) {
    assert.throws(
      () => openNetns(other),
      (error) => SysError.is(error, 'EINVAL') && error.message.endsWith('not a network namespace'),
    );
  }
  for (const missing of ['', join(directory.path, 'none')]) {
    assert.throws(
      () => openNetns(missing),
      (error) => SysError.is(error, 'ENOENT') && error.path === missing,
    );
  }
});

test('a function runs inside, and the thread is back afterwards', () => {
  using outer = createNetns();
  using inner = createNetns();
  using own = currentNetns();
  const seen = runInNetns(outer, () => {
    const first = readlinkSync(ownNetns);
    const second = runInNetns(inner, () => readlinkSync(ownNetns));
    return [first, second, readlinkSync(ownNetns)];
  });
  assert.deepEqual(seen, [`net:[${outer.ino}]`, `net:[${inner.ino}]`, `net:[${outer.ino}]`]);
  assert.equal(readlinkSync(ownNetns), `net:[${own.ino}]`);
});

test('the thread is back also when the function throws, and a promise is refused', () => {
  using made = createNetns();
  const before = readlinkSync(ownNetns);
  assert.throws(() => {
    runInNetns(made, () => {
      throw new RangeError('inside');
    });
  }, RangeError);
  assert.equal(readlinkSync(ownNetns), before);
  assert.throws(
    () => runInNetns(made, async () => 1),
    (error) => SysError.is(error, 'EINVAL'),
  );
  assert.equal(readlinkSync(ownNetns), before);
});

test('nothing asynchronous begins inside, but a watch may end there', async () => {
  using made = createNetns();
  using route = routeSocket(made);
  using inotify = inotifyCreate();
  const watching = watch(inotify, () => undefined);
  const refused = (error: unknown) => SysError.is(error, 'EBUSY');
  let answer: Promise<unknown> | undefined;
  runInNetns(made, () => {
    answer = transact(route, dumpLinks);
    assert.throws(() => watch(route, () => undefined), refused);
    watching[Symbol.dispose]();
  });
  assert.ok(answer !== undefined);
  await assert.rejects(answer, refused);
  assert.equal((await transact(route, dumpLinks)).length, 2);
});

test('a child process that is started inside is born there', async () => {
  using made = createNetns();
  const child = runInNetns(made, () => spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] }));
  using ofChild = openNetns(`/proc/${child.pid}/ns/net`);
  assert.ok(ofChild.sameAs(made));
  child.stdin?.end();
  await new Promise((resolve) => child.once('exit', resolve));
});

test('what cannot be entered leaves the thread where it is', () => {
  using own = currentNetns();
  const before = readlinkSync(ownNetns);
  own.close();
  using other = new NetnsHandle(native().open('/proc/self/ns/mnt', O.RDONLY, 0));
  assert.throws(
    () => runInNetns(other, () => 1),
    (error) => SysError.is(error, 'EINVAL') && error.syscall === 'setns',
  );
  assert.throws(
    () => runInNetns(own, () => 1),
    (error) => SysError.is(error, 'EBADF') && error.message.includes('use after close'),
  );
  assert.equal(readlinkSync(ownNetns), before);
});

test('a directory becomes a shared mount once, as ip netns wants it', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'netns');
  const mounts = () =>
    readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(` ${path} `));
  mkdirSync(path);
  try {
    shareMount(path);
    shareMount(path);
    const [only, ...more] = mounts();
    assert.match(only ?? '', / shared:\d+ /);
    assert.deepEqual(more, []);
  } finally {
    for (const _mount of mounts()) spawnSync('umount', [path]);
  }
  assert.deepEqual(mounts(), []);
});

/** Tries to bind in a process that may not mount; gives what it printed. */
function runInMountlessChild(path: string): string {
  const source = `
    import { bindNetns, currentNetns } from ${JSON.stringify(entry)};
    try { bindNetns(currentNetns(), ${JSON.stringify(path)}); } catch (error) { console.log(String(error)); }`;
  return runProgram(source, ['setpriv', '--bounding-set=-sys_admin', '--']).stdout;
}
