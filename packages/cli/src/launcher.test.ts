/** `bin/heddle`, by which a checkout's command is typed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempDisposableSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { HEDDLE_VERSION } from './version.ts';

const LAUNCHER = fileURLToPath(new URL('../../../bin/heddle', import.meta.url));

test('the command runs through a link, in the directory where it was typed', () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'heddle-launcher-'));
  symlinkSync(LAUNCHER, join(directory.path, 'heddle'));
  symlinkSync('heddle', join(directory.path, 'again'));
  mkdirSync(join(directory.path, 'net.d'));
  const call = (name: string, ...args: readonly string[]) =>
    spawnSync(`./${name}`, args, {
      cwd: directory.path,
      env: { PATH: process.env['PATH'], NETCONFPATH: 'net.d' },
      encoding: 'utf8',
    });
  assert.equal(call('heddle', '--version').stdout, `${HEDDLE_VERSION}\n`);
  const { status, stderr } = call('again', 'status', 'a b');
  assert.equal(status, 1);
  assert.match(stderr, /^heddle: no net configurations found in net\.d\n/);
});

test('a checkout that is not set up says how to do that', () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'heddle-launcher-'));
  mkdirSync(join(directory.path, 'bin'));
  copyFileSync(LAUNCHER, join(directory.path, 'bin/heddle'));
  const { status, stderr } = spawnSync(join(directory.path, 'bin/heddle'), ['ls'], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.equal(
    stderr,
    `heddle: ${directory.path} is not set up yet\n  hint: make -C ${directory.path} build\n`,
  );
});
