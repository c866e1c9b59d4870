import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { native } from './addon.ts';
import { loadAddon } from './open-addon.ts';
import { SysError } from './sys-error.ts';
import { scratchDirectory } from './testing/scratch.ts';

test('a file that is no addon is refused with its path', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'not-an-addon.node');
  writeFileSync(path, 'text');
  assert.throws(
    () => loadAddon(path),
    (error) => SysError.is(error, 'ENOEXEC') && error.message.startsWith(`load addon ${path}: `),
  );
});

test('the addon checks every argument by itself', () => {
  const addon = native() as unknown as Record<string, (...values: unknown[]) => unknown>;
  const refused: readonly (readonly [string, ...unknown[]])[] = [
    ['close', Number.NaN],
    ['close', 2 ** 31],
    ['close', 1.5],
    ['close'],
    ['write', 1, 'text'],
    ['write', 1, new Uint16Array(2)],
    ['open', 3, 0, 0],
    ['recv', 0, -(2 ** 40), 0],
    ['runInNetns', -1, 'no function'],
    ['transact', -1, new Uint8Array(1), 'no function'],
    ['setErrorFactory', undefined],
  ];
  for (const [name, ...values] of refused) {
    assert.throws(() => addon[name]?.(...values), TypeError, `${name}(${values.join(', ')})`);
  }
});

test('a path is passed whole or not at all', () => {
  assert.throws(
    () => native().statfs('/proc\0/etc'),
    (error) => SysError.is(error, 'EINVAL'),
  );
  assert.throws(
    () => native().statfs('x'.repeat(5000)),
    (error) => SysError.is(error, 'ENAMETOOLONG'),
  );
  assert.throws(
    () => native().statfs('/none/ö/€'),
    (error) => SysError.is(error, 'ENOENT') && error.path === '/none/ö/€',
  );
});
