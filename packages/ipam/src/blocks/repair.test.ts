import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Prefix } from '@heddle/netaddr';
import { put, remove, type Store } from '@heddle/store';
import { memoryStore } from '@heddle/store/testing';
import { allocateAddresses } from './allocate.ts';
import { putPool } from './configure.ts';
import { inspectStore } from './inspect.ts';
import { repairStore } from './repair.ts';

let store: Store;
const member = () => ({ store, node: 'n1', now: () => 1_000_000 });
const text = (addresses: readonly { readonly addr: unknown }[] = []) =>
  addresses.map(({ addr }) => `${addr}`);
beforeEach(async () => {
  store = memoryStore();
  await putPool(store, { name: 'four', cidr: Prefix.parse('10.0.0.0/24') });
  await putPool(store, { name: 'six', cidr: Prefix.parse('fd00::/120') });
  await allocateAddresses(member(), { handle: 'a' });
  await allocateAddresses(member(), { handle: 'b' });
});
const entriesOf = async (kind: string) => (await store.list(`/heddle/ipam/${kind}/`)).entries;

test('where all fits together, nothing is done', async () => {
  const before = (await store.list('')).revision;
  assert.deepEqual(await repairStore(store), { mended: [], left: [] });
  assert.equal((await store.list('')).revision, before);
});

test('a handle that was lost, and an affinity, come back from the blocks; nobody loses an address', async () => {
  const { handles: before } = await inspectStore(store);
  for (const { key } of [...(await entriesOf('handles')), ...(await entriesOf('affinities'))]) {
    await remove(store, key);
  }
  const { mended, left } = await repairStore(store);
  assert.deepEqual([mended.length, left], [6, []]);
  const { handles, problems } = await inspectStore(store);
  assert.deepEqual(problems, []);
  assert.deepEqual(
    handles.map(({ addresses }) => text(addresses)).sort(),
    before.map(({ addresses }) => text(addresses)).sort(),
  );
});

test('an address that its block does not know of is held there again', async () => {
  const [four] = await entriesOf('blocks/four');
  assert.ok(four);
  await put(store, four.key, JSON.stringify({ ...JSON.parse(four.value), held: [] }));
  const { mended, left } = await repairStore(store);
  assert.deepEqual([mended.length, left], [2, []]);
  assert.deepEqual((await inspectStore(store)).problems, []);
});

test('two owners of an address are told, and both left alone', async () => {
  const [a, b] = await entriesOf('handles');
  assert.ok(a && b);
  const { addresses } = JSON.parse(a.value);
  await put(store, b.key, JSON.stringify({ ...JSON.parse(b.value), addresses }));
  const { left } = await repairStore(store);
  assert.match(left.join('\n'), /of b of n1 is held by a of n1 as well/);
});
