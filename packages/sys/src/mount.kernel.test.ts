import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  bindPath,
  enterPrivateMounts,
  mountOverlay,
  mountTmpfs,
  SysError,
  setReadOnly,
  unmount,
} from './index.ts';

// The file's process is one of its own: the mounts end with it.
test('what is mounted after entering private mounts is seen by children, and by nobody outside', () => {
  const outside = readFileSync('/proc/1/mounts', 'utf8');
  enterPrivateMounts();
  const root = mkdtempSync(join(tmpdir(), 'heddle-mount-'));
  mountTmpfs(root, { size: 16 * 1024 });
  for (const name of ['lower', 'upper', 'work', 'bound']) mkdirSync(join(root, name));

  writeFileSync(join(root, 'lower/old'), 'old');
  mountOverlay(join(root, 'lower'), join(root, 'upper'), join(root, 'work'));
  writeFileSync(join(root, 'lower/new'), 'new');
  assert.equal(readFileSync(join(root, 'lower/old'), 'utf8'), 'old');
  assert.ok(existsSync(join(root, 'upper/new')));
  assert.equal(execFileSync('cat', [join(root, 'lower/new')], { encoding: 'utf8' }), 'new');
  unmount(join(root, 'lower'));
  assert.equal(existsSync(join(root, 'lower/new')), false);

  bindPath(join(root, 'lower'), join(root, 'bound'));
  setReadOnly(join(root, 'bound'), true);
  assert.throws(() => writeFileSync(join(root, 'bound/more'), ''), { code: 'EROFS' });
  setReadOnly(join(root, 'bound'), false);
  writeFileSync(join(root, 'bound/more'), '');
  unmount(join(root, 'bound'));
  assert.throws(() => unmount(join(root, 'bound')), SysError);

  assert.throws(() => writeFileSync(join(root, 'big'), new Uint8Array(64 * 1024)), { code: 'ENOSPC' });
  assert.equal(readFileSync('/proc/1/mounts', 'utf8'), outside);
  unmount(root);
  rmSync(root, { recursive: true });
});
