import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openSqlite } from './sqlite-store.ts';

const program = fileURLToPath(new URL('../testing/writer-program.ts', import.meta.url));

test('several processes write, and a watch in another one misses nothing', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-store-'));
  try {
    const path = join(directory, 'store.db');
    await using store = await openSqlite({ path });
    const writers = [1, 2, 3].map(() => spawn(process.execPath, [program, path, '50'], { stdio: 'inherit' }));
    const ended = Promise.all(writers.map((writer) => once(writer, 'exit')));
    const seen: string[] = [];
    for await (const { events } of store.watch('/count', 0)) {
      for (const event of events) if (event.kind === 'put') seen.push(event.entry.value);
      if (seen.length === 150) break;
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 150 }, (_, n) => String(n + 1)),
    );
    for (const [code] of await ended) assert.equal(code, 0);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a process that is killed while it writes leaves a whole store, and its lock to others', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-store-'));
  try {
    const path = join(directory, 'store.db');
    await using store = await openSqlite({ path });
    const writer = spawn(process.execPath, [program, path, '1000000'], { stdio: 'inherit' });
    const ended = once(writer, 'exit');
    for await (const { revision } of store.watch('/count', 0)) {
      if (revision >= 100) break;
    }
    writer.kill('SIGKILL');
    await ended;
    const entry = await store.get('/count');
    assert.equal(entry?.value, String(entry?.revision));
    await store.commit({
      conditions: [{ key: '/count', revision: entry?.revision ?? 0 }],
      changes: [{ delete: '/count' }],
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
