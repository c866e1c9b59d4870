import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeDirectory } from './directory.ts';

/** A directory for a test. */
class Scratch implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'heddle-directory-'));
  [Symbol.dispose]() {
    rmSync(this.path, { recursive: true });
  }
}

test('makes what is missing, with the mode, and names the topmost', () => {
  using scratch = new Scratch();
  assert.equal(makeDirectory(join(scratch.path, 'a/b/c'), 0o700), join(scratch.path, 'a'));
  for (const each of ['a', 'a/b', 'a/b/c'])
    assert.equal(statSync(join(scratch.path, each)).mode & 0o777, 0o700, each);
});

test('leaves one alone that is there', () => {
  using scratch = new Scratch();
  mkdirSync(join(scratch.path, 'a'), { mode: 0o710 });
  assert.equal(makeDirectory(join(scratch.path, 'a'), 0o700), undefined);
  assert.equal(statSync(join(scratch.path, 'a')).mode & 0o777, 0o710);
});

test('is refused by a file in its place or above it', () => {
  using scratch = new Scratch();
  writeFileSync(join(scratch.path, 'file'), '');
  assert.throws(() => makeDirectory(join(scratch.path, 'file')), { code: 'EEXIST' });
  assert.throws(() => makeDirectory(join(scratch.path, 'file/a/b')), { code: 'ENOTDIR' });
});

test('is refused, and soon, where no directories can be made', () => {
  assert.throws(() => makeDirectory('/proc/heddle/a/b'), { code: 'ENOENT' });
});
