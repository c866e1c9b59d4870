import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { findPlugin } from '@heddle/cni/runtime';
import { KnownPrograms } from './known-programs.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'heddle-programs-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** A directory with a program `bridge`, which is a script. */
function directoryWith(name: string, mode = 0o755): string {
  const directory = join(root, name);
  mkdirSync(directory);
  writeFileSync(join(directory, 'bridge'), '#!/bin/sh\n', { mode });
  return directory;
}

/** Finds `bridge`, and tells how often that took a look at the program itself. */
function finder() {
  const programs = new KnownPrograms();
  let looks = 0;
  const find = (...path: string[]) =>
    programs.find('bridge', path, () => {
      looks++;
      return findPlugin('bridge', path).path;
    });
  return { find, looks: () => looks };
}

test('a program that is as it was is not looked at again', () => {
  const directory = directoryWith('a');
  const { find, looks } = finder();
  for (let call = 0; call < 3; call++) assert.equal(find(directory), join(directory, 'bridge'));
  assert.equal(looks(), 1);
});

test('one that may not be executed any more, is broken, replaced or gone is what it is now', () => {
  const directory = directoryWith('a');
  const program = join(directory, 'bridge');
  const { find, looks } = finder();
  find(directory);
  chmodSync(program, 0o644);
  assert.throws(() => find(directory), { code: 'PLUGIN_NOT_FOUND' });
  chmodSync(program, 0o755);
  find(directory);
  writeFileSync(program, 'no program');
  assert.throws(() => find(directory), { code: 'PLUGIN_NOT_FOUND' });
  writeFileSync(join(directory, 'other'), '#!/bin/sh\n', { mode: 0o755 });
  renameSync(join(directory, 'other'), program);
  const before = looks();
  find(directory);
  assert.equal(looks(), before + 1);
  rmSync(program);
  assert.throws(() => find(directory), { code: 'PLUGIN_NOT_FOUND' });
});

test('one that comes to an earlier directory counts at once', () => {
  const [first, second] = [join(root, 'first'), directoryWith('second')];
  const { find } = finder();
  assert.equal(find(first, second), join(second, 'bridge'));
  directoryWith('first');
  assert.equal(find(first, second), join(first, 'bridge'));
});
