import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affinityCodec, KEYS } from '@heddle/ipam/blocks';
import { type Addr, Prefix } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import { FakeKernel } from '@heddle/netlink/testing';
import { type Store, StoreError } from '@heddle/store';
import { memoryStore } from '@heddle/store/testing';
import { type Clock, systemClock } from './clock.ts';
import { joinCluster } from './cluster/join.ts';
import { NODE_KEYS, nodeCodec } from './cluster/records.ts';
import { type RouterEvent, startRouter } from './router.ts';
import { changesOf, fillStore } from './testing/large-cluster.ts';
import { until } from './testing/until.ts';

/** A node among others that are only told of, on a kernel in memory. */
async function among(
  nodes: number,
  more: {
    readonly clock?: Clock;
    /** Done when it has joined, and has no router yet. */
    readonly meanwhile?: (session: KernelSession) => Promise<unknown>;
    readonly onEvent?: (event: RouterEvent) => void;
    /** What the router sees of the store. */
    readonly view?: (store: Store) => Store;
  } = {},
) {
  const store = memoryStore();
  await fillStore(store, { nodes, podsPerNode: 110 });
  const kernel = new FakeKernel();
  const session = kernel.session('host');
  await session.links.add({ name: 'eth0', kind: 'dummy', up: true });
  await session.addresses.add({ link: 'eth0', prefix: Prefix.parse('172.31.255.1/12') });
  const stack = new AsyncDisposableStack();
  const membership = stack.use(
    await joinCluster({ ...{ store, session, name: 'own', instance: 'own', version: '1' } }),
  );
  await more.meanwhile?.(session);
  const events: RouterEvent[] = [];
  const router = stack.use(
    await startRouter({
      ...{ membership, session, clock: more.clock ?? systemClock },
      store: more.view?.(store) ?? store,
      onEvent: (event) => {
        events.push(event);
        more.onEvent?.(event);
      },
    }),
  );
  const routes = async () => (await session.routes.list({ protocol: 72 })).length;
  return {
    store,
    kernel,
    session,
    membership,
    router,
    events,
    routes,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const changesIn = (events: readonly RouterEvent[]) =>
  events.reduce((sum, event) => sum + (event.kind === 'applied' ? event.changes : 0), 0);

test('what is sent when a node changes does not depend on how many there are', async () => {
  const sent: number[][] = [];
  for (const nodes of [10, 200]) {
    await using cluster = await among(nodes);
    const { store, events, routes, router } = cluster;
    // Two blocks each, and one blackhole for the block of the own tunnel address.
    await until('all nodes have routes', async () => (await routes()) === nodes * 2 + 1);
    await router.resync();
    const steps: number[] = [];
    const step = async (what: string, change: () => Promise<unknown>, holds: () => Promise<boolean>) => {
      await until('it is quiet', async () => {
        events.length = 0;
        await router.resync();
        return changesIn(events) === 0;
      });
      await change();
      await until(what, holds);
      steps.push(changesIn(events));
    };
    await step(
      'the new node has routes',
      () => store.commit({ changes: changesOf(nodes, 110) }),
      async () => (await routes()) === nodes * 2 + 3,
    );
    await step(
      'a block is withdrawn',
      () => {
        const cidr = Prefix.parse('10.0.0.64/26');
        const value = affinityCodec.encode({ node: 'n0', pool: 'v4', cidr, state: 'pendingDeletion' });
        return store.commit({ changes: [{ put: KEYS.affinity('n0', cidr), value }] });
      },
      async () => (await routes()) === nodes * 2 + 2,
    );
    await step(
      'a node is gone',
      () => store.commit({ changes: [{ delete: NODE_KEYS.node('n1') }, { delete: NODE_KEYS.member('n1') }] }),
      async () => (await routes()) === nodes * 2,
    );
    sent.push(steps);
  }
  // A neighbour, a forwarding entry and two routes; one route; and the first again.
  assert.deepEqual(sent, [
    [4, 1, 4],
    [4, 1, 4],
  ]);
});

test('what the kernel refuses is told, and tried again until it is done', async () => {
  await using cluster = await among(3);
  const { store, kernel, router, routes, events } = cluster;
  await until('all nodes have routes', async () => (await routes()) === 7);
  kernel.failNext({ match: 'RTM_NEWROUTE', errno: 'ENOBUFS' });
  await store.commit({ changes: changesOf(3, 110) });
  await until('it is told', () => router.status().problems.some(({ reason }) => /ENOBUFS/.test(reason)));
  assert.match(router.status().problems[0]?.subject ?? '', /^route 10\.0\.1\.\d+\/26$/);
  await until('it is done', async () => (await routes()) === 9);
  await until('nothing is told any more', () => router.status().problems.length === 0);
  assert.deepEqual(
    events.filter(({ kind }) => kind === 'problem' || kind === 'solved').map(({ kind }) => kind),
    ['problem', 'solved'],
  );
});

test('a record that nobody can read spoils nothing else, and is told', async () => {
  await using cluster = await among(3);
  const { store, router, routes } = cluster;
  await until('all nodes have routes', async () => (await routes()) === 7);
  await store.commit({
    changes: [{ put: NODE_KEYS.node('n1'), value: '{"name":"n1"}' }, ...changesOf(3, 110)],
  });
  await until('the other one is taken', async () => (await routes()) === 9);
  assert.match(router.status().problems[0]?.subject ?? '', /entry \/heddle\/nodes\/n1/);
});

test('an address that comes after the node has joined, and before its router watches, is told to the others', async () => {
  const meanwhile = (session: KernelSession) =>
    session.addresses.add({ link: 'eth0', prefix: Prefix.parse('fd00::1/64') });
  await using cluster = await among(1, { meanwhile });
  const { store } = cluster;
  await until('it is in the node’s record', async () => {
    const entry = await store.get(NODE_KEYS.node('own'));
    const { underlay = [] } = entry === undefined ? {} : nodeCodec.decode(entry);
    return `${underlay}` === '172.31.255.1/12,fd00::1/64';
  });
});

test('a look at the underlay that fails is taken again', async () => {
  await using cluster = await among(1);
  const { kernel, session, membership, router } = cluster;
  await router.resync();
  kernel.failNext({ match: 'RTM_GETADDR', errno: 'ENOBUFS' });
  await session.addresses.add({ link: 'eth0', prefix: Prefix.parse('fd00::1/64'), noDad: true });
  await until('it is announced', () => `${membership.record.underlay}` === '172.31.255.1/12,fd00::1/64');
  await until('nothing is told any more', () => router.status().problems.length === 0);
});

test('who asks for everything to be compared is not answered when a part has been', async () => {
  let held: Promise<void> | undefined;
  let [time, skipped] = [0, 0];
  const clock: Clock = {
    ...systemClock,
    now: () => ++time,
    monotonic: () => systemClock.monotonic() + skipped,
    pause: async (milliseconds, signal) => {
      try {
        await systemClock.pause(milliseconds, signal);
      } finally {
        await held;
      }
    },
  };
  let ask: (() => void) | undefined;
  const onEvent = (event: RouterEvent) => {
    if (event.kind === 'applied' && event.why === 'news') ask?.();
  };
  await using cluster = await among(3, { clock, onEvent });
  const { store, session, router, events, routes } = cluster;
  await until('all nodes have routes', async () => (await routes()) === 7);
  await until('it is quiet', async () => {
    events.length = 0;
    await router.resync();
    return changesIn(events) === 0;
  });
  // A change of the store and one of the kernel are there when the router looks.
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  const [route] = await session.routes.list({ protocol: 72 });
  assert.ok(route !== undefined);
  await session.routes.delete({ dst: route.dst, metric: route.metric, protocol: 72 });
  await store.commit({ changes: changesOf(3, 110) });
  await until('it knows of the new node', () => router.status().peers.length === 4);
  const answered = new Promise<{ asked: number; compared: number }>((answer) => {
    ask = () => {
      ask = undefined;
      const asked = ++time;
      void router.resync().then(() => answer({ asked, compared: router.status().lastResync ?? 0 }));
    };
  });
  // By now it may repair again.
  skipped = 1_000;
  held = undefined;
  resolve();
  const { asked, compared } = await answered;
  assert.ok(compared > asked, 'all was compared after it was asked for');
});

test('what the store refuses is told and asked for again, and nothing else is read twice for it', async () => {
  let [isRefused, refusals] = [true, 0];
  const watched: string[] = [];
  const view = (store: Store): Store => ({
    ...store,
    list: async (prefix, options) => {
      if (prefix !== KEYS.blocks || !isRefused) return await store.list(prefix, options);
      refusals++;
      throw new StoreError('STORE_UNAUTHORISED', 'permission denied');
    },
    watch: (prefix, ...more) => {
      watched.push(prefix);
      return store.watch(prefix, ...more);
    },
  });
  const hurried: Clock = {
    ...systemClock,
    pause: (milliseconds, signal) => systemClock.pause(Math.min(milliseconds, 50), signal),
  };
  await using cluster = await among(3, { clock: hurried, view });
  const { router, routes, events } = cluster;
  await until('it has been refused several times', () => refusals > 3);
  assert.deepEqual(
    router.status().problems.map(({ subject, reason }) => `${subject}: ${reason}`),
    [`store ${KEYS.blocks}: permission denied`],
  );
  isRefused = false;
  await until('all nodes have routes', async () => (await routes()) === 7);
  assert.equal(watched.filter((prefix) => prefix === KEYS.affinities).length, 1);
  await until('it is told to be solved', () => events.some(({ kind }) => kind === 'solved'));
  assert.deepEqual(router.status().problems, []);
});

test('what takes the place of something is there before that goes', async () => {
  await using cluster = await among(1);
  const { store, session, router, routes } = cluster;
  await until('it has routes', async () => (await routes()) === 3);
  const [first, ...others] = changesOf(0, 110);
  assert.ok(first !== undefined && 'put' in first);
  const record = nodeCodec.decode({ key: first.put, value: first.value });
  const told = (addresses: readonly Addr[]) =>
    store.commit({
      changes: [
        { put: first.put, value: nodeCodec.encode({ ...record, tunnel: { ...record.tunnel, addresses } }) },
        ...others,
      ],
    });
  const gateways = async () =>
    new Set((await session.routes.list({ protocol: 72 })).flatMap(({ gateway, via }) => [gateway ?? via]));
  const before = `${record.tunnel.addresses}`;
  await told([]);
  await until('something stands in', async () => ![...(await gateways())].map(String).includes(before));
  const events: string[] = [];
  using _ = session.subscribe({
    groups: ['route4', 'neighbour'],
    onEvent: ({ action, kind }) => events.push(`${action} ${kind}`),
    onResync: () => events.push('lost'),
  });
  await told(record.tunnel.addresses);
  await until('it is as before', async () => [...(await gateways())].map(String).includes(before));
  await router.resync();
  await until('all is told', () => events.includes('delete neighbour'));
  assert.deepEqual([...new Set(events)], ['new neighbour', 'new route', 'delete neighbour']);
});
