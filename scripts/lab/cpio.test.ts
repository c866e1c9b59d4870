import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { CHARACTER_DEVICE, cpio, DIRECTORY, FILE } from './cpio.ts';

const absent = spawnSync('busybox', ['true']).error !== undefined;

test('another reader finds the members', { skip: absent && 'not installed: busybox' }, () => {
  const archive = cpio([
    { name: 'dev', mode: DIRECTORY | 0o755 },
    { name: 'dev/console', mode: CHARACTER_DEVICE | 0o600, device: [5, 1] },
    { name: 'empty', mode: FILE | 0o644 },
    ...[1, 2, 3, 4].map((length) => ({
      name: 'n'.repeat(length),
      mode: FILE | 0o755,
      content: Buffer.alloc(length, 'x'),
    })),
  ]);
  assert.equal(archive.length % 4, 0);
  const { stdout } = spawnSync('busybox', ['cpio', '-tv'], { input: archive, encoding: 'utf8' });
  const members = stdout
    .split('\n')
    .map((line) => line.replace(/\s+\w{3} .*:\d\d /, ' ').replace(/\s+/g, ' '));
  assert.deepEqual(
    members.filter(Boolean).map((line) => line.replace(/ \d{4}-.* /, ' ')),
    [
      'drwxr-xr-x 0/0 0 dev',
      'crw------- 0/0 0 dev/console',
      '-rw-r--r-- 0/0 0 empty',
      ...[1, 2, 3, 4].map((length) => `-rwxr-xr-x 0/0 ${length} ${'n'.repeat(length)}`),
    ],
  );
});
