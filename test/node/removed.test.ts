/** A node whose cluster removed it while its pods went on, and that is back: they keep their addresses, or it says whose do not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterNode, openStore, readNodeConfig } from '@heddle/agent';
import { allocateAddresses, inspectStore } from '@heddle/ipam/blocks';
import { Addr } from '@heddle/netaddr';
import { NODE_KEYS, removeGoneNode } from '@heddle/routing';
import { TestNode } from './test-node.ts';

const config = { type: 'heddle' };
const args = 'K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web';

/** A pod on a node that ended, and from which everything was taken. */
async function removed() {
  const node = await TestNode.joined();
  const pod = node.lab.container();
  const { ips = [] } = await node.lab.add({ config, container: pod, args });
  const addresses = ips.map(({ address }) => Addr.parse(address.split('/')[0] ?? ''));
  await node.node[Symbol.asyncDispose]();
  const store = await openStore({ store: node.store });
  const other = { store, node: 'n2', labels: {}, now: Date.now };
  // As when its lease has run out.
  await store.commit({ conditions: [], changes: [{ delete: NODE_KEYS.node('n1') }] });
  await removeGoneNode(other, 'n1');
  assert.deepEqual((await inspectStore(store)).handles, []);
  const events: string[] = [];
  const again = new ClusterNode({
    config: readNodeConfig(node.configFile),
    ...{ instance: 'test-machine', version: '0.0.0-test', session: node.lab.host.session },
    onEvent: ({ what, why }) => events.push(`${what}: ${why ?? ''}`),
    pace: { retry: 20 },
  });
  const attachment = (containerID: string) => ({ network: 'net1', containerID, ifName: 'eth0' });
  return {
    ...{ node, pod, addresses, store, other, again, events, attachment },
    async [Symbol.asyncDispose]() {
      await again[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await node[Symbol.asyncDispose]();
    },
  };
}

test('a pod that is there has exactly its addresses again before anybody gets one', async () => {
  await using back = await removed();
  const { pod, addresses, store, again, attachment } = back;
  await again.start();
  await again.joined();
  const { handles, problems } = await inspectStore(store);
  const record = handles.find(({ handle }) => handle.includes(pod.id));
  assert.deepEqual(
    record?.addresses.map(({ addr }) => `${addr}`),
    addresses.map(String),
  );
  assert.equal(record?.pod, 'shop/web');
  assert.deepEqual(problems, []);
  assert.equal((await again.status()).ready, true);
  const { addresses: fresh } = await again.addresses.take(attachment('another'));
  assert.equal(fresh.length, 2);
  for (const { address } of fresh)
    assert.ok(!addresses.some((addr) => addr.equals(address.addr)), `${address}`);
  await assert.rejects(
    again.addresses.take({ ...attachment('thief'), addresses: addresses.slice(0, 1) }),
    /it is held by net1/,
  );
});

test('a pod whose address another one has by now is named, until it is gone', async () => {
  await using back = await removed();
  const { node, pod, addresses, store, other, again, events } = back;
  await allocateAddresses(other, { handle: 'net1/other/eth0', addresses });
  await again.start();
  await again.joined();
  const [four, six] = addresses;
  const status = await again.status();
  assert.equal(status.ready, false);
  assert.equal(
    status.reason,
    `pod shop/web uses ${four}, but it is held by net1/other/eth0 on n2; ` +
      `pod shop/web uses ${six}, but it is held by net1/other/eth0 on n2`,
  );
  assert.match(status.hint ?? '', /^delete the pod/);
  for (const addr of addresses) {
    assert.ok(
      events.some((event) => event.startsWith(`keep ${addr} for pod shop/web: it is held by`)),
      `${addr}`,
    );
  }
  const { handles, problems } = await inspectStore(store);
  assert.deepEqual(
    handles.filter(({ handle }) => !handle.startsWith('tunnel.')).map(({ handle, node }) => [handle, node]),
    [['net1/other/eth0', 'n2']],
  );
  assert.deepEqual(problems, []);
  await node.lab.del({ config, container: pod });
  assert.equal((await again.status()).ready, true);
  assert.ok(events.some((event) => event.startsWith('no pod uses an address any more')));
});
