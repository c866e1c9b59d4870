import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { remember } from './remember.ts';

test('nothing, a link and a file are there again as they were', () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-remember-'));
  try {
    const [absent, link, file] = ['absent', 'link', 'file'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    symlinkSync('program', link);
    writeFileSync(file, 'before');
    chmodSync(file, 0o751);
    const back = [absent, link, file].map(remember);
    for (const path of [absent, link, file]) {
      rmSync(path, { force: true });
      writeFileSync(path, 'after', { mode: 0o600 });
    }
    for (const bring of back) bring();
    assert.ok(!existsSync(absent));
    assert.equal(readlinkSync(link), 'program');
    assert.equal(readFileSync(file, 'utf8'), 'before');
    assert.equal(statSync(file).mode & 0o777, 0o751);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
