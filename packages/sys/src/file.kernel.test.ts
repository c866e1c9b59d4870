import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { O } from './constants.ts';
import { fsync, linkFd, openFile, read, readFileIn, statfsMagic, write, writeFileIn } from './file.ts';
import { createNetns } from './netns.ts';
import { SysError } from './sys-error.ts';
import { scratchDirectory } from './testing/scratch.ts';

const sysctl = '/proc/sys/net/ipv6/conf/all/hop_limit';

test('a sysctl is read and written in another namespace, and the own one stays', () => {
  using netns = createNetns();
  const own = readFileIn(undefined, sysctl);
  assert.equal(readFileIn(netns, sysctl), '64\n');
  writeFileIn(netns, sysctl, '77');
  assert.equal(readFileIn(netns, sysctl), '77\n');
  assert.equal(readFileIn(undefined, sysctl), own);
  assert.equal(readFileSync(sysctl, 'utf8'), own);
});

test("the kernel's refusal of a value is told with the file", () => {
  using netns = createNetns();
  assert.throws(
    () => writeFileIn(netns, sysctl, 'many'),
    (error) => SysError.is(error, 'EINVAL') && error.syscall === 'write' && error.path === sysctl,
  );
  const missing = '/proc/sys/net/ipv4/conf/hdnone/forwarding';
  for (const refused of [() => readFileIn(netns, missing), () => writeFileIn(netns, missing, '1')]) {
    assert.throws(refused, (error) => SysError.is(error, 'ENOENT') && error.path === missing);
  }
  netns.close();
  assert.throws(
    () => readFileIn(netns, sysctl),
    (error) => SysError.is(error, 'EBADF'),
  );
});

test('a file of any size is read whole, and its content replaced', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'file');
  assert.throws(
    () => writeFileIn(undefined, path, 'x'),
    (error) => SysError.is(error, 'ENOENT'),
  );
  for (const length of [0, 1, 4095, 4096, 4097, 300_000]) {
    const content = 'ä'.repeat(length);
    writeFileSync(path, 'older and longer'.repeat(100_000));
    writeFileIn(undefined, path, content);
    assert.equal(readFileIn(undefined, path), content);
  }
  assert.throws(
    () => readFileIn(undefined, directory.path),
    (error) => SysError.is(error, 'EISDIR') && error.syscall === 'read',
  );
});

test('a file without a name gets one when it is complete', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'file');
  using file = openFile(directory.path, O.TMPFILE | O.RDWR, 0o640);
  assert.equal(write(file, Buffer.from('complete')), 8);
  fsync(file);
  assert.ok(!existsSync(path));
  linkFd(file, path);
  assert.equal(readFileSync(path, 'utf8'), 'complete');
  assert.throws(
    () => linkFd(file, path),
    (error) => SysError.is(error, 'EEXIST') && error.path === path,
  );
});

test('reading gives bytes, then nothing at the end', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'file');
  writeFileSync(path, 'abcdef');
  using file = openFile(path, O.RDONLY);
  assert.equal(Buffer.from(read(file, 4) ?? []).toString(), 'abcd');
  assert.equal(Buffer.from(read(file, 4) ?? []).toString(), 'ef');
  assert.deepEqual(read(file, 4), new Uint8Array(0));
  assert.throws(
    () => write(file, Buffer.from('x')),
    (error) => SysError.is(error, 'EBADF') && error.syscall === 'write',
  );
  file.close();
  for (const use of [() => read(file, 1), () => write(file, Buffer.from('x')), () => fsync(file)]) {
    assert.throws(use, (error) => SysError.is(error, 'EBADF') && error.message.endsWith('use after close'));
  }
});

test('file systems are told apart', () => {
  assert.equal(statfsMagic('/proc'), 0x9fa0);
  assert.equal(statfsMagic('/proc/self/ns/net'), 0x6e736673);
  assert.throws(
    () => statfsMagic(''),
    (error) => SysError.is(error, 'ENOENT'),
  );
});
