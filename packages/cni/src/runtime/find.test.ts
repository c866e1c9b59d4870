import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findPlugin } from './find.ts';

const root = mkdtempSync(join(tmpdir(), 'heddle-find-'));
after(() => rmSync(root, { recursive: true }));

function directory(name: string): string {
  const path = join(root, name);
  mkdirSync(path);
  return path;
}

function program(path: string, content = '#!/bin/sh\n'): string {
  writeFileSync(path, content);
  chmodSync(path, 0o755);
  return path;
}

/** An ELF program for a processor that this machine is not. */
const FOREIGN = Buffer.from(
  `7f454c46020101${'00'.repeat(9)}0200${process.arch === 's390x' ? '3e00' : '1600'}`,
  'hex',
);

test('the first directory that has the plugin wins', () => {
  const [one, two] = [directory('first-1'), directory('first-2')];
  program(join(one, 'a'));
  program(join(two, 'a'));
  const b = program(join(two, 'b'));
  assert.deepEqual(findPlugin('a', [one, two]), { path: join(one, 'a'), obstacles: [] });
  assert.deepEqual(findPlugin('b', [one, two]), { path: b, obstacles: [] });
});

test('a link to a program is followed, and a program may be binary', () => {
  const dir = directory('link');
  copyFileSync(process.execPath, join(dir, 'program'));
  symlinkSync(join(dir, 'program'), join(dir, 'bridge'));
  assert.equal(findPlugin('bridge', [dir]).path, join(dir, 'bridge'));
});

test('a name that is empty or has a slash is refused, and so is an empty path', () => {
  assert.throws(() => findPlugin('', ['/x']), { msg: 'no plugin name provided' });
  assert.throws(() => findPlugin('a/b', ['/x']), { msg: 'invalid plugin name: a/b' });
});

test('kubernetes#62054: empty directories are ignored, and none at all is said so', () => {
  for (const path of [[], [''], ['', '']]) {
    assert.throws(() => findPlugin('bridge', path), {
      msg: 'no paths provided',
      message: 'no paths provided; no plugin directory configured',
    });
  }
  const dir = directory('empty-element');
  program(join(dir, 'bridge'));
  assert.equal(findPlugin('bridge', ['', dir]).path, join(dir, 'bridge'));
});

test("a plugin that is nowhere: the text is the reference's, and a like name is suggested", () => {
  const dir = directory('nowhere');
  program(join(dir, 'host-local'));
  assert.throws(() => findPlugin('host-locl', [dir, '/nonexistent']), {
    message: `failed to find plugin "host-locl" in path [${dir} /nonexistent]`,
    hint: 'did you mean "host-local"?',
    code: 'PLUGIN_NOT_FOUND',
  });
});

test('cri-o#1301: what is no usable program is passed over for one that is', () => {
  const [one, two] = [directory('obstacle-1'), directory('obstacle-2')];
  const good = ['broken', 'folder', 'plain', 'foreign', 'text'].map((name) => program(join(two, name)));
  symlinkSync('/nonexistent', join(one, 'broken'));
  mkdirSync(join(one, 'folder'));
  writeFileSync(join(one, 'plain'), '#!/bin/sh\n', { mode: 0o644 });
  writeFileSync(join(one, 'foreign'), FOREIGN, { mode: 0o755 });
  program(join(one, 'text'), 'just text');
  const found = good.map((path) => findPlugin(path.slice(two.length + 1), [one, two]));
  assert.deepEqual(
    found.map(({ path }) => path),
    good,
  );
  const reasons = found.map(({ obstacles }) => obstacles.join());
  assert.match(reasons[0] ?? '', /broken is a broken link \(to \/nonexistent\)/);
  assert.match(reasons[1] ?? '', /folder is no file but a directory/);
  assert.match(reasons[2] ?? '', /plain is not executable/);
  assert.match(reasons[3] ?? '', /foreign is built for .*, this machine is/);
  assert.match(reasons[4] ?? '', /text is neither an ELF program nor a script/);
});

test('cri-o#1301: without a usable program the error says what stood in the way', () => {
  const dir = directory('alone');
  symlinkSync('/nonexistent', join(dir, 'broken'));
  mkdirSync(join(dir, 'folder'));
  writeFileSync(join(dir, 'plain'), '#!/bin/sh\n', { mode: 0o644 });
  const text = (type: string): string =>
    `failed to find plugin "${type}" in path [${dir}]; ${join(dir, type)} is`;
  assert.throws(() => findPlugin('broken', [dir]), {
    message: `${text('broken')} a broken link (to /nonexistent)`,
  });
  assert.throws(() => findPlugin('folder', [dir]), { message: `${text('folder')} no file but a directory` });
  assert.throws(() => findPlugin('plain', [dir]), { message: `${text('plain')} not executable` });
});

test('a program for another processor is taken when there is nothing better: the kernel may know it', () => {
  const dir = directory('foreign-only');
  writeFileSync(join(dir, 'bridge'), FOREIGN, { mode: 0o755 });
  assert.equal(findPlugin('bridge', [dir]).path, join(dir, 'bridge'));
});
