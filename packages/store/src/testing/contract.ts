/** What every store does, whatever it stands on. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { put, remove } from '../compare-and-swap.ts';
import { follow } from '../follow.ts';
import { MAX_TRANSACTION, MAX_VALUES } from '../request.ts';
import type { Store, WatchBatch } from '../store.ts';
import { StoreError } from '../store-error.ts';

/** What the tests are run on. */
export interface StoreUnderTest {
  /** Opens an empty store twice, as two processes would. */
  open(): Promise<readonly [Store, Store]>;
  /** Lets the store forget all changes up to now. */
  compact(store: Store): Promise<void>;
  /** Returns once so much of the store's time has passed. */
  pass(seconds: number): Promise<void>;
  /** Why it cannot be tested here. */
  readonly skip?: string | false;
  /** A lease that is short, but long enough to be kept alive on a busy machine; in seconds. */
  readonly shortLease: number;
}

/** Declares the contract's tests. */
export function describeStore(name: string, under: StoreUnderTest): void {
  const storeTest = (what: string, run: (a: Store, b: Store) => Promise<void>) =>
    test(what, { timeout: 120_000, skip: under.skip ?? false }, async () => {
      const [a, b] = await under.open();
      try {
        await run(a, b);
      } finally {
        await a[Symbol.asyncDispose]();
        await b[Symbol.asyncDispose]();
      }
    });

  describe(name, () => {
    storeTest('gives what was put, to everybody', async (a, b) => {
      assert.equal(await a.get('/x'), undefined);
      const first = await put(a, '/x', 'one');
      assert.deepEqual(await b.get('/x'), { key: '/x', value: 'one', created: first, revision: first });
      const second = await put(b, '/x', 'zwölf 🧵\n');
      assert.ok(second > first);
      const entry = { key: '/x', value: 'zwölf 🧵\n', created: first, revision: second };
      assert.deepEqual(await a.get('/x'), entry);
      const third = await put(a, '/x', '');
      assert.equal((await b.get('/x'))?.value, '');
      assert.ok((await remove(b, '/x')) > third);
      assert.equal(await a.get('/x'), undefined);
      const again = await put(a, '/x', 'new');
      assert.equal((await a.get('/x'))?.created, again, 'a key that was deleted begins anew');
    });

    storeTest('lists what is below a prefix, in order, and nothing else', async (a, b) => {
      const keys = ['/a', '/b', '/b/', '/b/1', '/b/10', '/b/2', '/b~', '/c'];
      for (const key of keys.toReversed()) await put(a, key, key);
      const found = async (prefix: string) => (await b.list(prefix)).entries.map(({ key }) => key);
      assert.deepEqual(await found('/b/'), ['/b/', '/b/1', '/b/10', '/b/2']);
      assert.deepEqual(await found('/b'), ['/b', '/b/', '/b/1', '/b/10', '/b/2', '/b~']);
      assert.deepEqual(await found(''), keys);
      assert.deepEqual(await found('/d'), []);
      assert.deepEqual(await found('~'), []);
      const { revision } = await b.list('/d');
      assert.equal(revision, (await a.get('/a'))?.revision, 'the moment is the store’s, not the prefix’s');
    });

    storeTest('swaps only what is as expected', async (a, b) => {
      const at = await put(a, '/x', 'one', { at: 0 });
      const second = put(b, '/x', 'other', { at: 0 });
      await assert.rejects(second, { code: 'STORE_CONFLICT', keys: ['/x'], mayHaveHappened: false });
      const next = await put(b, '/x', 'two', { at });
      await assert.rejects(remove(a, '/x', { at }), { code: 'STORE_CONFLICT' });
      assert.equal((await a.get('/x'))?.value, 'two');
      await remove(a, '/x', { at: next });
      await assert.rejects(put(a, '/x', 'three', { at: next }), { code: 'STORE_CONFLICT' });
      await put(a, '/x', 'three', { at: 0 });
    });

    storeTest('makes all changes of a transaction or none', async (a, b) => {
      const at = await put(a, '/a', '1');
      await put(a, '/b', '1');
      const changes = [{ put: '/a', value: '2' }, { put: '/c', value: '2' }, { delete: '/b' }];
      const conditions = [
        { key: '/a', revision: at },
        { key: '/b', revision: at },
        { key: '/c', revision: at },
      ];
      const before = await b.list('');
      await assert.rejects(a.commit({ conditions, changes }), { code: 'STORE_CONFLICT', keys: ['/b', '/c'] });
      assert.deepEqual(await b.list(''), before);
      const revision = await a.commit({ conditions: conditions.slice(0, 1), changes });
      const after = await b.list('');
      assert.deepEqual(
        after.entries.map(({ key, value, revision }) => [key, value, revision]),
        [
          ['/a', '2', revision],
          ['/c', '2', revision],
        ],
      );
      assert.equal(after.revision, revision);
    });

    storeTest('has no new moment when nothing changes', async (a) => {
      const revision = await put(a, '/x', '1');
      assert.equal(await remove(a, '/y'), revision);
      assert.equal(await a.commit({ conditions: [{ key: '/x', revision }], changes: [] }), revision);
      assert.equal((await a.list('')).revision, revision);
    });

    storeTest('lets one of many writers win at a time', async (a, b) => {
      const add = async (store: Store) => {
        for (;;) {
          const entry = await store.get('/n');
          try {
            await put(store, '/n', String(Number(entry?.value ?? 0) + 1), { at: entry?.revision ?? 0 });
            return;
          } catch (error) {
            if (!StoreError.is(error, 'STORE_CONFLICT')) throw error;
          }
        }
      };
      await Promise.all(Array.from({ length: 20 }, (_, n) => add(n % 2 === 0 ? a : b)));
      assert.equal((await a.get('/n'))?.value, '20');
    });

    storeTest('refuses what no store takes', async (a) => {
      const invalid = { code: 'STORE_REQUEST_INVALID' };
      for (const key of ['', 'a b', 'ä', 'x'.repeat(513), 'a\n'])
        await assert.rejects(put(a, key, ''), invalid);
      await assert.rejects(a.list('a b'), invalid);
      await assert.rejects(a.get(''), invalid);
      await assert.rejects(a.commit({ changes: [{ delete: '/x' }, { put: '/x', value: '' }] }), invalid);
      await assert.rejects(put(a, '/x', '', { at: -1 }), invalid);
      await assert.rejects(put(a, '/x', 'ü'.repeat(MAX_VALUES / 2 + 1)), invalid);
      const many = Array.from({ length: MAX_TRANSACTION + 1 }, (_, n) => ({ delete: `/${n}` }));
      await assert.rejects(a.commit({ changes: many }), invalid);
      for (const seconds of [0, -1, 1.5, Number.NaN, 1e12])
        await assert.rejects(a.grantLease(seconds), invalid);
      await a.commit({ changes: many.slice(1).map(({ delete: key }) => ({ put: key, value: '' })) });
      await put(a, '/x', 'x'.repeat(MAX_VALUES));
    });

    storeTest('tells a watch of every commit, in order and whole', async (a, b) => {
      await put(a, '/w/old', '0');
      const { revision: after } = await a.list('');
      const first = await put(a, '/w/1', 'one');
      await put(a, '/other', '');
      const second = await b.commit({
        changes: [{ put: '/w/2', value: 'two' }, { delete: '/w/1' }, { put: '/z', value: '' }],
      });
      const batches = await take(a.watch('/w/', after), 2);
      assert.deepEqual(batches[0], {
        revision: first,
        events: [
          { kind: 'put', key: '/w/1', entry: { key: '/w/1', value: 'one', created: first, revision: first } },
        ],
      });
      assert.equal(batches[1]?.revision, second);
      assert.deepEqual(
        new Set(batches[1]?.events.map(({ kind, key }) => `${kind} ${key}`)),
        new Set(['put /w/2', 'delete /w/1']),
      );
    });

    storeTest('tells a watch of what others do while it waits', async (a, b) => {
      const { revision: after } = await a.list('');
      const watching = take(a.watch('/w/', after), 3);
      for (const n of [1, 2, 3]) await put(b, '/w/x', String(n));
      const values = (await watching).flatMap(({ events }) =>
        events.map((event) => (event.kind === 'put' ? event.entry.value : '')),
      );
      assert.deepEqual(values, ['1', '2', '3']);
    });

    storeTest('ends a watch when its signal aborts, and when it is closed', async (a, b) => {
      const { revision: after } = await a.list('');
      const stopping = new AbortController();
      const stopped = take(a.watch('/', after, { signal: stopping.signal }), 1);
      const closed = take(b.watch('/', after), 1);
      const reason = new Error('enough');
      stopping.abort(reason);
      await assert.rejects(stopped, reason);
      await b[Symbol.asyncDispose]();
      await assert.rejects(closed, { code: 'STORE_UNAVAILABLE' });
      await assert.rejects(b.get('/x'), { code: 'STORE_UNAVAILABLE' });
    });

    storeTest('does nothing once the signal is aborted', async (a) => {
      const reason = new Error('too late');
      const signal = AbortSignal.abort(reason);
      await assert.rejects(put(a, '/x', '1', { signal }), reason);
      await assert.rejects(a.get('/x', { signal }), reason);
      await assert.rejects(a.list('/x', { signal }), reason);
      await assert.rejects(a.grantLease(10, { signal }), reason);
      assert.equal(await a.get('/x'), undefined);
    });

    storeTest('says when changes are gone, and following goes on from the present state', async (a, b) => {
      const early = await put(a, '/f/x', '1');
      await put(a, '/f/x', '2');
      await under.compact(a);
      await assert.rejects(take(a.watch('/f/', early - 1), 1), { code: 'STORE_COMPACTED' });

      const stopping = new AbortController();
      const news = follow(forgetful(a, early - 1), '/f/', { signal: stopping.signal, pause: async () => {} });
      const state = async () => {
        const { value } = await news.next();
        assert.equal(value.kind, 'state');
        return value.kind === 'state' ? value.entries.map(({ value: each }) => each) : [];
      };
      assert.deepEqual(await state(), ['2']);
      assert.deepEqual(await state(), ['2'], 'the first watch began too early, so the state comes again');
      const next = news.next();
      await put(b, '/f/x', '3');
      const { value } = await next;
      assert.equal(value.kind, 'changes');
      stopping.abort(new Error('enough'));
      await assert.rejects(news.next(), /enough/);
    });

    storeTest('deletes what is bound to a lease when that ends', async (a, b) => {
      const { id, seconds } = await a.grantLease(under.shortLease);
      assert.ok(seconds >= under.shortLease);
      await put(a, '/l/bound', '1', { lease: id });
      const { revision } = await a
        .commit({
          changes: [
            { put: '/l/both', value: '1', lease: id },
            { put: '/l/free', value: '1', lease: id },
          ],
        })
        .then(() => b.list(''));
      await put(b, '/l/free', '2');
      assert.equal((await b.get('/l/bound'))?.lease, id);
      assert.equal((await b.get('/l/free'))?.lease, undefined);
      const watching = take(b.watch('/l/', revision + 1), 1);
      await under.pass(seconds + 1);
      const [batch] = await watching;
      const gone = batch?.events.map(({ kind, key }) => `${kind} ${key}`) ?? [];
      assert.deepEqual(gone.sort(), ['delete /l/both', 'delete /l/bound']);
      assert.deepEqual(
        (await a.list('/l/')).entries.map(({ key }) => key),
        ['/l/free'],
      );
      await assert.rejects(a.keepAlive(id), { code: 'STORE_LEASE_GONE' });
      await assert.rejects(put(a, '/l/x', '', { lease: id }), { code: 'STORE_LEASE_GONE' });
    });

    storeTest('keeps what is bound to a lease as long as that is kept alive', async (a) => {
      const { id, seconds } = await a.grantLease(under.shortLease + 2);
      await put(a, '/l', '1', { lease: id });
      for (let n = 0; n < 3; n++) {
        await under.pass(seconds / 2);
        assert.equal((await a.keepAlive(id)).seconds, seconds);
      }
      assert.equal((await a.get('/l'))?.value, '1');
      await a.revokeLease(id);
      assert.equal(await a.get('/l'), undefined);
      await assert.rejects(a.revokeLease(id), { code: 'STORE_LEASE_GONE' });
      await assert.rejects(a.keepAlive(id), { code: 'STORE_LEASE_GONE' });
    });
  });
}

async function take(batches: AsyncIterable<WatchBatch>, count: number): Promise<readonly WatchBatch[]> {
  const taken: WatchBatch[] = [];
  for await (const batch of batches) {
    taken.push(batch);
    if (taken.length >= count) break;
  }
  return taken;
}

/** A store whose first watch begins earlier than it is told to. */
function forgetful(store: Store, after: number): Store {
  let first = true;
  return new Proxy(store, {
    get(target, name) {
      if (name !== 'watch') {
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      }
      return (prefix: string, asked: number, options?: { signal?: AbortSignal }) => {
        const from = first ? after : asked;
        first = false;
        return target.watch(prefix, from, options);
      };
    },
  });
}
