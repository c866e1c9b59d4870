import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { IN, O } from './constants.ts';
import { openFile } from './file.ts';
import { inotifyAdd, inotifyCreate, inotifyDrain, inotifyRemove } from './inotify.ts';
import { flock } from './lock.ts';
import { SysError } from './sys-error.ts';
import { scratchDirectory } from './testing/scratch.ts';

const mask = IN.CREATE | IN.DELETE | IN.MOVED_FROM | IN.MOVED_TO | IN.CLOSE_WRITE;

test('a drain under a lock sees all that other holders did before', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'lock');
  using lock = openFile(path, O.RDWR | O.CREAT, 0o600);
  using inotify = inotifyCreate();
  inotifyAdd(inotify, directory.path, mask);
  for (let round = 0; round < 5; round++) {
    const script = `echo x > ${directory.path}/made-${round}`;
    assert.equal(spawnSync('flock', ['--exclusive', path, 'sh', '-c', script]).status, 0);
    flock(lock, 'exclusive');
    const made = inotifyDrain(inotify).filter((event) => (event.mask & IN.CREATE) !== 0);
    assert.deepEqual(
      made.map((event) => event.name),
      [`made-${round}`],
    );
    assert.deepEqual(inotifyDrain(inotify), []);
    flock(lock, 'unlock');
  }
});

test('events carry the watch, the kind, the name, and one cookie per rename', () => {
  using directory = scratchDirectory();
  using inotify = inotifyCreate();
  const wd = inotifyAdd(inotify, directory.path, mask);
  assert.equal(inotifyAdd(inotify, directory.path, mask), wd);
  const at = (name: string) => join(directory.path, name);
  writeFileSync(at('a'), 'x');
  renameSync(at('a'), at('a-name-of-more-than-sixteen-bytes-ö'));
  mkdirSync(at('sub'));
  rmSync(at('sub'), { recursive: true });
  const events = inotifyDrain(inotify);
  assert.ok(events.every((event) => event.wd === wd));
  assert.deepEqual(
    events.map(({ mask, name }) => [mask, name]),
    [
      [IN.CREATE, 'a'],
      [IN.CLOSE_WRITE, 'a'],
      [IN.MOVED_FROM, 'a'],
      [IN.MOVED_TO, 'a-name-of-more-than-sixteen-bytes-ö'],
      [(IN.CREATE | IN.ISDIR) >>> 0, 'sub'],
      [(IN.DELETE | IN.ISDIR) >>> 0, 'sub'],
    ],
  );
  assert.ok(events[2]?.cookie !== 0 && events[2]?.cookie === events[3]?.cookie);
});

test('more events than one read can hold', () => {
  using directory = scratchDirectory();
  using inotify = inotifyCreate();
  inotifyAdd(inotify, directory.path, IN.CREATE);
  const names = Array.from({ length: 3000 }, (_, i) => `file-with-a-rather-long-name-${i}`);
  for (const name of names) writeFileSync(join(directory.path, name), '');
  assert.deepEqual(
    inotifyDrain(inotify).map((event) => event.name),
    names,
  );
});

test('a removed watch says so, and a bad one is an error', () => {
  using directory = scratchDirectory();
  using inotify = inotifyCreate();
  const wd = inotifyAdd(inotify, directory.path, mask);
  inotifyRemove(inotify, wd);
  assert.deepEqual(inotifyDrain(inotify), [{ wd, mask: IN.IGNORED, cookie: 0, name: '' }]);
  assert.throws(
    () => inotifyRemove(inotify, wd),
    (error) => SysError.is(error, 'EINVAL'),
  );
  const missing = join(directory.path, 'none');
  assert.throws(
    () => inotifyAdd(inotify, missing, mask),
    (error) => SysError.is(error, 'ENOENT') && error.path === missing,
  );
});
