import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IpamError } from '@heddle/ipam';
import { allocateAddresses, inspectStore, putPool } from '@heddle/ipam/blocks';
import { Prefix } from '@heddle/netaddr';
import { FakeKernel } from '@heddle/netlink/testing';
import { StoreError } from '@heddle/store';
import { MemoryDatabase, openMemory } from '@heddle/store/testing';
import { joinCluster } from '../index.ts';
import { RoutingError } from '../routing-error.ts';
import { until } from '../testing/until.ts';
import type { JoinOptions, MembershipEvent } from './membership.ts';
import { listNodes, removeGoneNode } from './nodes.ts';
import { NODE_KEYS, nodeCodec } from './records.ts';

/** A cluster in memory, whose store can be taken away from all nodes. */
async function cluster() {
  const database = new MemoryDatabase();
  const kernel = new FakeKernel();
  let isAway = false;
  const store = openMemory(database, async (_call, run) => {
    await undefined;
    if (isAway) throw new StoreError('STORE_UNAVAILABLE', 'the store is away');
    return run();
  });
  await putPool(store, { name: 'pods', cidr: Prefix.parse('10.244.0.0/24') });
  const join = async (name: string, more: Partial<JoinOptions> = {}) => {
    const session = kernel.session(name);
    if ((await session.links.find('eth0')) === undefined) {
      await session.links.add({ name: 'eth0', kind: 'dummy', up: true });
      await session.addresses.add({ link: 'eth0', prefix: Prefix.parse('192.0.2.1/24') });
    }
    const events: MembershipEvent[] = [];
    const membership = await joinCluster({
      ...{ store, session, name, instance: `machine of ${name}`, version: '1', leaseSeconds: 1 },
      onEvent: (event) => events.push(event),
      ...more,
    });
    return { membership, events, [Symbol.asyncDispose]: () => membership[Symbol.asyncDispose]() };
  };
  return {
    ...{ database, store, join },
    away(value: boolean) {
      isAway = value;
    },
  };
}

const isTaken = (error: unknown) => RoutingError.is(error, 'NODE_NAME_TAKEN');

test('a node that joined is known, with where it is, for as long as it lives', async () => {
  const { store, join } = await cluster();
  await using one = await join('n1', { labels: { zone: 'a' } });
  const [entry] = await listNodes(store);
  assert.deepEqual(entry?.record?.underlay.map(String), ['192.0.2.1/24']);
  assert.equal(entry?.record?.mtu, 1500);
  assert.deepEqual(entry?.record?.labels, { zone: 'a' });
  assert.equal(entry?.member?.gone, undefined);
  const [, another] = [one, await join('n2')];
  assert.notEqual(`${another.membership.record.tunnel.mac}`, `${one.membership.record.tunnel.mac}`);
  await another[Symbol.asyncDispose]();
  await until('its lease has run out', async () => (await listNodes(store))[1]?.record === undefined);
  assert.ok((await listNodes(store))[0]?.record, 'the other one is kept alive');
});

test('one name, two machines: the second is refused, whether the first lives or is only gone', async () => {
  const { store, join } = await cluster();
  const first = await join('n1');
  await assert.rejects(join('n1', { instance: 'another' }), isTaken);
  await first[Symbol.asyncDispose]();
  await until('its lease has run out', async () => (await store.get(NODE_KEYS.node('n1'))) === undefined);
  await assert.rejects(join('n1', { instance: 'another' }), isTaken);
  await using other = await join('n2');
  await removeGoneNode(other.membership.member, 'n1');
  await using _ = await join('n1', { instance: 'another' });
});

test('the same machine takes its entry over at once after a crash', async () => {
  const { store, join } = await cluster();
  await join('n1').then((first) => first[Symbol.asyncDispose]());
  assert.ok(await store.get(NODE_KEYS.node('n1')));
  await using again = await join('n1');
  const { address } =
    (await allocateAddresses(again.membership.member, { handle: 'a', families: [4] }))[0] ?? {};
  assert.ok(address);
});

test('names that cannot be are refused', async () => {
  const { join } = await cluster();
  for (const name of ['', 'a b', '../x', 'ä', 'x'.repeat(254)]) {
    await assert.rejects(join(name === '' ? '' : name), (error) =>
      RoutingError.is(error, 'NODE_NAME_INVALID'),
    );
  }
});

test('a node whose lease ran out while the store was away is in again, and keeps its addresses', async () => {
  const { store, join, away, database } = await cluster();
  await using one = await join('n1');
  const { membership, events } = one;
  await allocateAddresses(membership.member, { handle: 'a', families: [4] });
  away(true);
  await until('it notices', () => membership.state.kind === 'away');
  await until('its lease has run out', () => database.get(NODE_KEYS.node('n1')) === undefined);
  away(false);
  await until('it is in again', () => membership.state.kind === 'joined');
  assert.deepEqual(
    events.filter(({ kind }) => kind === 'rejoined'),
    [{ kind: 'rejoined', removed: false }],
  );
  assert.equal((await inspectStore(store)).pools[0]?.held, 1);
  await allocateAddresses(membership.member, { handle: 'b', families: [4] });
});

test('a node that was removed restores what it lost before its own member can take anything', async () => {
  const { store, join, away, database } = await cluster();
  const attempts: string[] = [];
  const restore: JoinOptions['restore'] = async (member) => {
    const take = (by: typeof member, handle: string) =>
      allocateAddresses(by, { handle, families: [4] }).then(
        ([one]) => `${one?.address}`,
        (error: unknown) => (error instanceof IpamError ? error.code : String(error)),
      );
    const own: typeof member | undefined = joined?.membership.member;
    if (own === undefined) return;
    attempts.push(await take(own, 'new'));
    if (attempts.length === 1) throw new StoreError('STORE_UNAVAILABLE', 'away again');
    attempts.push(await take(member, 'old'));
  };
  let joined: Awaited<ReturnType<typeof join>> | undefined;
  await using one = await join('n1', { restore });
  joined = one;
  const { membership, events } = one;
  const [had] = await allocateAddresses(membership.member, { handle: 'old', families: [4] });
  away(true);
  await until('its lease has run out', () => database.get(NODE_KEYS.node('n1')) === undefined);
  const others = openMemory(database);
  await removeGoneNode({ ...membership.member, store: others, node: 'n2' }, 'n1');
  away(false);
  await until('it is in again', () => events.some(({ kind }) => kind === 'rejoined'));
  assert.deepEqual(attempts, ['IPAM_NODE_LOST', 'IPAM_NODE_LOST', `${had?.address}`]);
  assert.deepEqual(events.at(-1), { kind: 'rejoined', removed: true });
  assert.equal(membership.state.kind, 'joined');
  await allocateAddresses(membership.member, { handle: 'new', families: [4] });
  assert.deepEqual((await inspectStore(store)).problems, []);
});

test('what a node has to tell while the store is away, is told when it is back', async () => {
  const { database, join, away } = await cluster();
  await using one = await join('n1', { leaseSeconds: 60 });
  away(true);
  one.membership.announce({ underlay: { addresses: [], mtu: 1400 } });
  await until('it was tried', () => one.membership.state.kind === 'away');
  away(false);
  await until('it is told', () => {
    const entry = database.get(NODE_KEYS.node('n1'));
    return entry !== undefined && nodeCodec.decode(entry).mtu === 1400;
  });
  await until('all is well', () => one.membership.state.kind === 'joined');
  assert.deepEqual(
    one.events.map(({ kind }) => kind),
    ['away', 'back'],
  );
  await allocateAddresses(one.membership.member, { handle: 'a', families: [4] });
});

test('a node that is gone is noted, and after the grace relieved of its addresses; one that lives never', async () => {
  const { store, join } = await cluster();
  await using one = await join('n1', { graceSeconds: 1 });
  const two = await join('n2');
  await allocateAddresses(one.membership.member, { handle: 'a', families: [4] });
  await allocateAddresses(two.membership.member, { handle: 'b', families: [4] });
  await two[Symbol.asyncDispose]();
  await until('it is forgotten', async () => (await listNodes(store)).length === 1);
  assert.deepEqual(
    one.events.filter(({ kind }) => kind === 'gone' || kind === 'removed'),
    [
      { kind: 'gone', node: 'n2' },
      { kind: 'removed', node: 'n2' },
    ],
  );
  assert.equal((await inspectStore(store)).pools[0]?.held, 1);
  // What it still holds in its hands does not let it take addresses.
  await assert.rejects(allocateAddresses(two.membership.member, { handle: 'c', families: [4] }), (error) =>
    IpamError.is(error, 'IPAM_NODE_LOST'),
  );
});

test('a node that comes back within the grace keeps everything, whatever its clock says', async () => {
  const { store, join } = await cluster();
  await using one = await join('n1', { graceSeconds: 3 });
  const first = await join('n2', { clock: { ...clockThatIsWrong() } });
  await allocateAddresses(first.membership.member, { handle: 'b', families: [4] });
  await first[Symbol.asyncDispose]();
  await until('it is noted', () => one.events.some(({ kind }) => kind === 'gone'));
  await using second = await join('n2', { clock: { ...clockThatIsWrong() } });
  assert.equal(second.membership.state.kind, 'joined');
  await until(
    'it is not noted any more',
    async () => (await listNodes(store))[1]?.member?.gone === undefined,
  );
  assert.equal((await inspectStore(store)).pools[0]?.held, 1);
});

test('a node that leaves takes nothing with it', async () => {
  const { store, join } = await cluster();
  const one = await join('n1');
  await allocateAddresses(one.membership.member, { handle: 'a', families: [4] });
  await one.membership.leave();
  assert.deepEqual(await listNodes(store), []);
  assert.equal((await inspectStore(store)).pools[0]?.held, 0);
  assert.equal(one.membership.state.kind, 'left');
  await using _ = await join('n1', { instance: 'another' });
});

/** Ten years ahead. */
function clockThatIsWrong() {
  const ahead = 10 * 365 * 24 * 3600 * 1000;
  return {
    now: () => Date.now() + ahead,
    monotonic: () => performance.now() + ahead,
    pause: (milliseconds: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, milliseconds);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(signal.reason);
        });
      }),
  };
}
