import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affinityCodec, KEYS } from '@heddle/ipam/blocks';
import { Prefix } from '@heddle/netaddr';
import { FakeKernel } from '@heddle/netlink/testing';
import { memoryStore } from '@heddle/store/testing';
import { joinCluster } from './cluster/join.ts';
import { NODE_KEYS } from './cluster/records.ts';
import { type RouterEvent, startRouter } from './router.ts';
import { changesOf, fillStore } from './testing/large-cluster.ts';
import { until } from './testing/until.ts';

/** A node among others that are only told of, on a kernel in memory. */
async function among(nodes: number) {
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
  const events: RouterEvent[] = [];
  const router = stack.use(
    await startRouter({
      ...{ membership, store, session },
      onEvent: (event) => events.push(event),
    }),
  );
  const routes = async () => (await session.routes.list({ protocol: 72 })).length;
  return {
    store,
    kernel,
    session,
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
