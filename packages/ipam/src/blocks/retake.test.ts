import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { MemoryDatabase, openMemory } from '@heddle/store/testing';
import {
  allocateAddresses,
  inspectStore,
  type Member,
  putPool,
  putSettings,
  releaseHandle,
  removeNode,
  retakeAddresses,
} from './index.ts';

/** Two nodes; `n1` has had an address of each family, and everything was taken from it. */
async function removed() {
  const store = openMemory(new MemoryDatabase());
  await putPool(store, { name: 'four', cidr: Prefix.parse('10.244.0.0/26'), blockSize: 26 });
  await putPool(store, { name: 'six', cidr: Prefix.parse('fd00:10:244::/122'), blockSize: 122 });
  const member = (node: string): Member => ({ store, node, labels: {}, now: () => 1_000_000 });
  const [one, two] = [member('n1'), member('n2')];
  const had = await allocateAddresses(one, { handle: 'pods/c1/eth0' });
  const gone = { key: '/heddle/nodes/n1', revision: 0 };
  return { store, one, two, addresses: had.map(({ address }) => address.addr), gone };
}

test('a pod has exactly its addresses again, of both families, and asking again changes nothing', async () => {
  const { store, one, two, addresses, gone } = await removed();
  await removeNode(two, 'n1', gone);
  assert.deepEqual((await inspectStore(store)).handles, []);
  const request = { handle: 'pods/c1/eth0', pod: 'shop/web', addresses };
  assert.deepEqual(await retakeAddresses(one, request), { taken: addresses, refused: [] });
  assert.deepEqual(await retakeAddresses(one, request), { taken: [], refused: [] });
  const { handles, problems } = await inspectStore(store);
  assert.deepEqual(
    handles.map(({ handle, node, pod, addresses }) => [
      handle,
      node,
      pod,
      addresses.map(({ addr }) => `${addr}`),
    ]),
    [['pods/c1/eth0', 'n1', 'shop/web', addresses.map(String)]],
  );
  assert.deepEqual(problems, []);
  assert.deepEqual((await releaseHandle(one, 'pods/c1/eth0')).map(String), addresses.map(String));
});

test('an address that somebody else has by now is refused, and the other one taken', async () => {
  const { store, one, two, addresses, gone } = await removed();
  await removeNode(two, 'n1', gone);
  const [four = assert.fail(), six = assert.fail()] = addresses;
  await allocateAddresses(two, { handle: 'pods/c2/eth0', families: [4], addresses: [four] });
  assert.deepEqual(await retakeAddresses(one, { handle: 'pods/c1/eth0', addresses }), {
    taken: [six],
    refused: [{ addr: four, why: 'it is held by pods/c2/eth0 on n2' }],
  });
  assert.deepEqual((await inspectStore(store)).problems, []);
});

test('what rests, and what is in a pool that gives no more, is in use all the same', async () => {
  const { store, one, two, addresses, gone } = await removed();
  // Another node's address in the block keeps it, and with it the rest.
  await allocateAddresses(two, { handle: 'pods/c2/eth0' });
  await removeNode(two, 'n1', gone);
  await putPool(store, { name: 'four', cidr: Prefix.parse('10.244.0.0/26'), blockSize: 26, disabled: true });
  await assert.rejects(allocateAddresses(one, { handle: 'pods/c1/eth0', addresses }));
  const { taken } = await retakeAddresses(one, { handle: 'pods/c1/eth0', addresses });
  assert.deepEqual(taken, addresses);
});

test('under strict affinity nothing is taken from a block that is another node’s', async () => {
  const { store, one, two, addresses, gone } = await removed();
  await removeNode(two, 'n1', gone);
  await putSettings(store, { strictAffinity: true });
  const others = [Addr.parse('10.244.0.9'), Addr.parse('fd00:10:244::9')];
  await allocateAddresses(two, { handle: 'pods/c2/eth0', addresses: others });
  const { taken, refused } = await retakeAddresses(one, { handle: 'pods/c1/eth0', addresses });
  assert.deepEqual(taken, []);
  assert.deepEqual(
    refused.map(({ why }) => why),
    [
      'its block 10.244.0.0/26 belongs to n2, and affinity is strict',
      'its block fd00:10:244::/122 belongs to n2, and affinity is strict',
    ],
  );
});

test('what is in no pool is none of the cluster’s', async () => {
  const { one } = await removed();
  const addresses = [Addr.parse('192.0.2.1'), Addr.parse('2001:db8::1')];
  assert.deepEqual(await retakeAddresses(one, { handle: 'pods/c9/eth0', addresses }), {
    taken: [],
    refused: [],
  });
});
