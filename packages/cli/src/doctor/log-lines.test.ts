import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { logLines } from './log-lines.ts';

test('lines come as they are, and one without an end in parts', () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-log-'));
  try {
    const path = join(directory, 'log');
    const endless = 'ä0'.repeat(1 << 20);
    writeFileSync(path, `first\n\nthird\n${endless}`);
    const [first, second, third, ...parts] = [...logLines(path)];
    assert.deepEqual([first, second, third], ['first', '', 'third']);
    assert.equal(parts.join(''), endless);
    assert.ok(
      parts.every(({ length }) => length < 1 << 20),
      'no part is as long as the line',
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});
