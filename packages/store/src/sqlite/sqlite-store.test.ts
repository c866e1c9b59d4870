import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { put } from '../compare-and-swap.ts';
import { describeStore } from '../testing/contract.ts';
import { openSqlite } from './sqlite-store.ts';

const directory = mkdtempSync(join(tmpdir(), 'heddle-store-'));
after(() => rmSync(directory, { recursive: true }));
let files = 0;
const newPath = () => join(directory, `${++files}`, 'store.db');

let now = 0;
const clock = { boot: 'this', now: () => now };

describeStore('a store in a file', {
  async open() {
    const path = newPath();
    return [await openSqlite({ path, clock, history: 1 }), await openSqlite({ path, clock, history: 1 })];
  },
  async compact(store) {
    for (let n = 0; n < 64; n++) await put(store, '/filler', String(n));
  },
  async pass(seconds) {
    now += seconds * 1000;
  },
  shortLease: 1,
});

test('what was committed is there after closing and opening, the counting of moments too', async () => {
  const path = newPath();
  const before = await openSqlite({ path });
  const revision = await put(before, '/x', 'kept');
  await before[Symbol.asyncDispose]();
  await before[Symbol.asyncDispose]();
  await using store = await openSqlite({ path });
  assert.equal((await store.get('/x'))?.value, 'kept');
  assert.equal(await put(store, '/x', 'new'), revision + 1);
});

test('nobody but the owner may read the file', async () => {
  const path = newPath();
  await using store = await openSqlite({ path });
  await put(store, '/x', '');
  for (const name of [path, `${path}-wal`, `${path}-shm`]) assert.equal(statSync(name).mode & 0o777, 0o600);
});

test('leases do not outlive a restart of the machine', async () => {
  const path = newPath();
  await using before = await openSqlite({ path, clock });
  const { id } = await before.grantLease(1000);
  await put(before, '/x', '', { lease: id });
  await using store = await openSqlite({ path, clock: { boot: 'next', now: () => 0 } });
  assert.equal(await store.get('/x'), undefined);
  await assert.rejects(store.keepAlive(id), { code: 'STORE_LEASE_GONE' });
});

test('what is no store is refused, and left as it is', async () => {
  const text = join(directory, 'text');
  writeFileSync(text, 'This is not a database, but a text of more than a hundred bytes. '.repeat(3));
  await assert.rejects(openSqlite({ path: text }), { code: 'STORE_CORRUPT' });

  const foreign = join(directory, 'foreign.db');
  const other = new DatabaseSync(foreign);
  other.exec('CREATE TABLE entry (x)');
  other.close();
  await assert.rejects(openSqlite({ path: foreign }), { code: 'STORE_CORRUPT', message: /another program/ });

  const path = newPath();
  await (await openSqlite({ path }))[Symbol.asyncDispose]();
  const newer = new DatabaseSync(path);
  newer.exec('PRAGMA user_version = 99');
  newer.close();
  await assert.rejects(openSqlite({ path }), { code: 'STORE_CORRUPT', message: /version 99/ });
});

test('a path that cannot be had is named', async () => {
  await assert.rejects(openSqlite({ path: 'store.db' }), {
    code: 'STORE_REQUEST_INVALID',
    message: /absolute/,
  });
  await assert.rejects(openSqlite({ path: join(directory, 'no', 'such', 'store.db') }), {
    code: 'STORE_UNAVAILABLE',
    message: /^open the store .*\/no\/such\/store.db: ENOENT/,
  });
  await assert.rejects(openSqlite({ path: newPath(), history: 0 }), { code: 'STORE_REQUEST_INVALID' });
});

test('a writer that does not come to an end is waited for, then told of', async () => {
  const path = newPath();
  await using store = await openSqlite({ path, patience: 100 });
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  assert.equal(await store.get('/x'), undefined, 'readers do not wait');
  await assert.rejects(put(store, '/x', ''), { code: 'STORE_UNAVAILABLE', mayHaveHappened: false });
  const reason = new Error('enough');
  const stopping = new AbortController();
  const putting = put(store, '/x', '', { signal: stopping.signal });
  stopping.abort(reason);
  await assert.rejects(putting, reason);
  other.exec('ROLLBACK');
  other.close();
  await put(store, '/x', '');
});
