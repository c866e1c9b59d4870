import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkPlugin } from '../run.ts';

test('what cannot be executed is refused before anything is run, and the message says why', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-program-'));
  try {
    const file = join(directory, 'plugin');
    writeFileSync(file, '#!/bin/sh\n');
    chmodSync(file, 0o644);
    const check = (program: string) => () => checkPlugin({ program, env: {} });
    await assert.rejects(check(join(directory, 'none')), /there is no file \S+\/none$/);
    await assert.rejects(check(directory), /is a directory, and no plugin/);
    await assert.rejects(check(file), /plugin is not executable/);
    writeFileSync(file, 'echo no shebang\n');
    chmodSync(file, 0o755);
    await assert.rejects(check(file), /plugin is no program to the kernel/);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
