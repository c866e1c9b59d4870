import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { put } from '../compare-and-swap.ts';
import { follow } from '../follow.ts';
import { MAX_TRANSACTION } from '../request.ts';
import type { Store } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { describeStore } from '../testing/contract.ts';
import { EtcdCluster, etcdMissing } from '../testing/etcd-cluster.ts';
import { openEtcd } from './etcd-store.ts';

const skip = etcdMissing();
let cluster: EtcdCluster;
before(async () => {
  if (skip === false) cluster = await EtcdCluster.start();
});
after(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

describeStore('a store in etcd', {
  skip,
  async open() {
    const stores = [openEtcd(cluster), openEtcd(cluster)] as const;
    await clear(stores[0]);
    return stores;
  },
  async compact(store) {
    const { revision } = await store.list('');
    await cluster.gateway('kv/compaction', { revision, physical: true });
  },
  async pass(seconds) {
    await pause(seconds * 1000);
  },
  shortLease: 4,
});

async function clear(store: Store): Promise<void> {
  const { entries } = await store.list('');
  for (let at = 0; at < entries.length; at += MAX_TRANSACTION) {
    await store.commit({
      changes: entries.slice(at, at + MAX_TRANSACTION).map(({ key }) => ({ delete: key })),
    });
  }
}

test('a commit larger than one message is told whole', { skip }, async () => {
  await using store = openEtcd(cluster);
  await clear(store);
  const { revision } = await store.list('');
  const value = 'x'.repeat(900_000);
  for (let n = 0; n < 4; n++) await put(store, `/big/${n}`, value);
  let seen = 0;
  for await (const { events } of store.watch('/big/', revision)) {
    for (const event of events)
      if (event.kind === 'put') assert.equal(event.entry.value.length, value.length);
    seen += events.length;
    if (seen === 4) break;
  }
  assert.equal((await store.list('/big/')).entries.length, 4);
  await clear(store);
});

test('a full database takes no more, says so, and still answers', { skip }, async () => {
  await using own = await EtcdCluster.start({ quota: 2 * 1024 * 1024 });
  await using store = openEtcd(own);
  await put(store, '/small', '1');
  const fill = async () => {
    for (let n = 0; n < 100; n++) await put(store, `/big/${n}`, 'x'.repeat(500_000));
  };
  await assert.rejects(fill(), { code: 'STORE_FULL', mayHaveHappened: false, message: /space exceeded/ });
  assert.equal((await store.get('/small'))?.value, '1');
});

test('an endpoint where nobody is, is named; with another one, that is taken', { skip }, async () => {
  const nobody = 'http://127.0.0.1:1';
  await using lost = openEtcd({ endpoints: [nobody] });
  await assert.rejects(put(lost, '/x', ''), {
    code: 'STORE_UNAVAILABLE',
    message: /^commit: etcd at http:\/\/127\.0\.0\.1:1: connect to .*ECONNREFUSED/,
    mayHaveHappened: false,
  });
  await using store = openEtcd({ endpoints: [nobody, ...cluster.endpoints] });
  await put(store, '/x', 'found');
  assert.equal((await store.get('/x'))?.value, 'found');
});

test('endpoints that are none are refused at once', () => {
  const refused = (endpoints: readonly string[], message: RegExp) =>
    assert.throws(() => openEtcd({ endpoints }), { code: 'STORE_REQUEST_INVALID', message });
  refused([], /no endpoint/);
  refused(['192.0.2.1:2379'], /not a URL of http or https/);
  refused(['etcd://a:2379'], /not a URL of http or https/);
  refused(['http://a:2379/v3'], /behind the port/);
  refused(['http://root:secret@a:2379'], /^etcd: endpoint a:2379: credentials do not belong/);
  const tls = { cert: 'x', key: 'y' };
  assert.throws(() => openEtcd({ endpoints: ['http://a:1'], tls }), { message: /does not use one/ });
  assert.throws(() => openEtcd({ endpoints: ['https://a:1'], tls: { cert: 'x' } }), {
    message: /go together/,
  });
});

test('names and passwords are asked for, and permissions hold', { skip }, async () => {
  await using own = await EtcdCluster.start();
  for (const [path, body] of [
    ['auth/user/add', { name: 'root', password: 'r' }],
    ['auth/user/grant', { user: 'root', role: 'root' }],
    ['auth/user/add', { name: 'node', password: 'n' }],
    ['auth/role/add', { name: 'nodes' }],
    [
      'auth/role/grant',
      {
        name: 'nodes',
        perm: {
          permType: 'READWRITE',
          key: Buffer.from('/heddle/').toString('base64'),
          range_end: Buffer.from('/heddle0').toString('base64'),
        },
      },
    ],
    ['auth/user/grant', { user: 'node', role: 'nodes' }],
    ['auth/enable', {}],
  ] as const) {
    await own.gateway(path, body);
  }
  const { endpoints } = own;
  const refused = { code: 'STORE_UNAUTHORISED' };
  await using nobody = openEtcd({ endpoints });
  await assert.rejects(nobody.get('/heddle/x'), refused);
  await using wrong = openEtcd({ endpoints, credentials: { name: 'node', password: 'x' } });
  await assert.rejects(wrong.get('/heddle/x'), refused);
  await using node = openEtcd({ endpoints, credentials: { name: 'node', password: 'n' } });
  const revision = await put(node, '/heddle/x', '1');
  await assert.rejects(put(node, '/other', ''), refused);
  await assert.rejects(node.list('/'), refused);
  const first = node.watch('/heddle/', revision - 1)[Symbol.asyncIterator]();
  assert.equal((await first.next()).value.revision, revision);
  await first.return?.();

  // Tokens are forgotten when the server starts anew: the store gets another one.
  await own.kill(0);
  own.resume(0);
  assert.equal((await eventually(() => node.get('/heddle/x')))?.value, '1');
});

test('members are killed one after the other: what was answered is kept, and a follower misses nothing', {
  skip,
}, async () => {
  await using own = await EtcdCluster.start({ size: 3 });
  await using writer = openEtcd(own);
  await using reader = openEtcd(own);
  const stopping = new AbortController();
  const news = follow(reader, '/n', { signal: stopping.signal, pause: () => pause(50) });
  await eventually(() => writer.list(''));
  assert.equal((await news.next()).value.kind, 'state');
  const add = async (value: string) => {
    const before = await eventually(() => writer.get('/n'));
    try {
      await put(writer, '/n', value, { at: before?.revision ?? 0 });
    } catch (error) {
      // Whoever does not know asks.
      if (!StoreError.is(error, 'STORE_UNAVAILABLE', 'STORE_CONFLICT')) throw error;
      if ((await eventually(() => writer.get('/n')))?.value !== value) await add(value);
    }
  };
  const seen: string[] = [];
  for (let n = 0; n < 30; n++) {
    if (n % 10 === 5) await own.kill(Math.floor(n / 10));
    await add(String(n));
    if (n % 10 === 9) own.resume(Math.floor(n / 10));
  }
  while (seen.at(-1) !== '29') {
    const { value } = await news.next();
    assert.equal(value.kind, 'changes');
    if (value.kind !== 'changes') break;
    for (const event of value.events) if (event.kind === 'put') seen.push(event.entry.value);
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 30 }, (_, n) => String(n)),
  );
  stopping.abort();
});

/** Asks until there is an answer. */
async function eventually<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!StoreError.is(error, 'STORE_UNAVAILABLE')) throw error;
      await pause(50);
    }
  }
}
