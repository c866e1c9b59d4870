import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('a full disk costs no address: what cannot be written leaves nothing behind', () => {
  const mountPoint = mkdtempSync(join(tmpdir(), 'heddle-full-'));
  const program = fileURLToPath(new URL('testing/full-disk-program.ts', import.meta.url));
  const script = 'mount -t tmpfs -o size=64k tmpfs "$1" && exec "$2" --conditions=source "$3" "$1"';
  try {
    // The mount is seen by this one process only, and ends with it.
    const args = [
      '--mount',
      '--propagation',
      'private',
      'sh',
      '-ec',
      script,
      'sh',
      mountPoint,
      process.execPath,
      program,
    ];
    const seen = JSON.parse(execFileSync('unshare', args, { encoding: 'utf8' })) as Record<string, unknown>;

    const full = `reserve 192.0.2.2 in ${mountPoint}/n1: ENOSPC: no space left on device, write`;
    assert.deepEqual(
      seen['failures'],
      Array.from({ length: 50 }, () => full),
    );
    assert.deepEqual(seen['afterFailures'], ['lock']);

    // Room for one file: one family fits, two do not, and then neither is held.
    assert.match(String(seen['dual']), /^reserve 2001:db8::2 in .*: ENOSPC/);
    assert.deepEqual(seen['afterDual'], ['lock']);

    // The marker is a hint: without room for it, the address is given all the same.
    assert.equal(seen['single'], '192.0.2.2/24');
    assert.deepEqual(seen['afterSingle'], ['192.0.2.2', 'lock']);
    const [warning, ...others] = seen['warnings'] as string[];
    assert.match(warning ?? '', /last_reserved_ip\.0: ENOSPC/);
    assert.deepEqual(others, []);

    assert.equal(seen['last'], '192.0.2.3/24,2001:db8::2/64');
  } finally {
    rmdirSync(mountPoint);
  }
});
