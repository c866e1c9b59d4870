import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mountTmpfs } from './mount.ts';
import { createMounts, openPids, reap, runInMounts, runInNewPids, runInPids } from './namespaces.ts';
import { SysError } from './sys-error.ts';
import { scratchDirectory } from './testing/scratch.ts';

test('what is mounted in a namespace of mounts is there only, for the thread and for children', () => {
  using directory = scratchDirectory();
  const file = join(directory.path, 'note');
  writeFileSync(file, 'outside');
  const before = process.cwd();
  using mounts = createMounts(() => {
    mountTmpfs(directory.path);
    writeFileSync(file, 'inside');
  });
  assert.equal(readFileSync(file, 'utf8'), 'outside');
  assert.equal(
    runInMounts(mounts, () => readFileSync(file, 'utf8')),
    'inside',
  );
  const child = () => spawnSync('cat', [file], { encoding: 'utf8' }).stdout;
  assert.equal(runInMounts(mounts, child), 'inside');
  assert.equal(child(), 'outside');
  assert.equal(process.cwd(), before, 'the working directory is as before');
});

test('a function that throws leaves the thread at home, and one that returns a promise is refused', () => {
  using directory = scratchDirectory();
  using mounts = createMounts(() => mountTmpfs(directory.path));
  const fails = () => {
    throw new RangeError('as planned');
  };
  assert.throws(() => runInMounts(mounts, fails), RangeError);
  assert.throws(() => createMounts(fails), RangeError);
  assert.throws(
    () => runInMounts(mounts, async () => undefined),
    (error) => SysError.is(error, 'EINVAL'),
  );
  writeFileSync(join(directory.path, 'here'), '');
  assert.ok(!runInMounts(mounts, () => existsSync(join(directory.path, 'here'))));
});

test('the first process of a process namespace takes all others with it when it is killed', async () => {
  const stay = (): ChildProcess => spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] });
  const first = runInNewPids(stay);
  using pids = openPids(`/proc/${first.pid}/ns/pid`);
  const second = runInPids(pids, stay);
  const outside = stay();
  assert.match(readFileSync(`/proc/${first.pid}/status`, 'utf8'), /^NSpid:\t\d+\t1$/m);
  assert.match(readFileSync(`/proc/${second.pid}/status`, 'utf8'), /^NSpid:\t\d+\t2$/m);
  assert.match(readFileSync(`/proc/${outside.pid}/status`, 'utf8'), /^NSpid:\t\d+$/m);
  const ended = once(second, 'exit');
  first.kill('SIGKILL');
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  assert.throws(
    () => reap(process.ppid),
    (error) => SysError.is(error, 'ECHILD'),
  );
  assert.equal(reap(outside.pid ?? 0), false);
  outside.stdin?.end();
  assert.deepEqual(await once(outside, 'exit'), [0, null]);
});
