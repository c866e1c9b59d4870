import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasNetns } from './netns.ts';

test('only what is certainly no namespace is none: the attachments of others are not garbage', () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-netns-'));
  try {
    const at = (name: string) => join(directory, name);
    writeFileSync(at('file'), '');
    symlinkSync('loop', at('loop'));
    assert.equal(hasNetns('/proc/self/ns/net'), true);
    for (const path of [at('nothing'), at('file'), join(at('file'), 'below')]) {
      assert.equal(hasNetns(path), false, path);
    }
    assert.equal(hasNetns(at('loop')), true);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
