/** Pods of a node that is a cluster of its own: they reach each other and the node, over both families. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStore } from '@heddle/agent';
import { inspectStore } from '@heddle/ipam/blocks';
import { TestNode } from './test-node.ts';

const config = { type: 'heddle' };
const addressesOf = ({ ips = [] }: { readonly ips?: readonly { readonly address: string }[] }) =>
  ips.map(({ address }) => address.split('/')[0] ?? '');

test('pods reach each other and their node, and are reached by it, over IPv4 and IPv6', async () => {
  await using node = await TestNode.joined();
  const { lab } = node;
  const [one, two] = [lab.container(), lab.container()];
  const first = await lab.add({ config, container: one });
  const second = await lab.add({ config, container: two });
  assert.match(JSON.stringify(first.ips), /"10\.244\.\d+\.\d+\/32".*"fd00:10:244::[\da-f]+\/128"/);
  for (const address of addressesOf(second)) assert.ok(one.pings(address), `one to ${address}`);
  for (const address of addressesOf(first)) {
    assert.ok(two.pings(address), `two to ${address}`);
    assert.ok(lab.host.pings(address), `the node to ${address}`);
  }
  for (const address of ['192.0.2.10', '2001:db8::10']) assert.ok(one.pings(address), `one to ${address}`);
  await lab.check({ config, container: one, prevResult: first });
  await lab.del({ config, container: one, prevResult: first });
  await lab.del({ config, container: two, prevResult: second });
  await using store = await openStore({ store: node.store });
  const { handles, problems } = await inspectStore(store);
  assert.deepEqual([handles.filter(({ handle }) => !handle.startsWith('tunnel.')), problems], [[], []]);
});

test('heddle-ipam gives ptp what its pods reach each other by', async () => {
  await using node = await TestNode.joined();
  const { lab } = node;
  const ptp = { type: 'ptp', ipam: { type: 'heddle-ipam' } };
  const [one, two] = [lab.container(), lab.container()];
  const first = await lab.add({ config: ptp, container: one });
  const second = await lab.add({ config: ptp, container: two });
  for (const address of addressesOf(second)) assert.ok(one.pings(address), `one to ${address}`);
  for (const address of addressesOf(first)) assert.ok(lab.host.pings(address), `the node to ${address}`);
  for (const address of ['192.0.2.10', '2001:db8::10']) assert.ok(two.pings(address), `two to ${address}`);
  await lab.check({ config: ptp, container: one, prevResult: first });
  await lab.del({ config: ptp, container: one, prevResult: first });
  await lab.del({ config: ptp, container: two, prevResult: second });
});

test('packets of IPv4 from another address than the pod has do not get past its node', async () => {
  await using node = await TestNode.joined();
  const { lab } = node;
  const pod = lab.container();
  await lab.add({ config, container: pod });
  const dropped = () => {
    const [names = [], values = []] = lab.host
      .run('cat /proc/net/netstat')
      .split('\n')
      .filter((line) => line.startsWith('TcpExt:'))
      .map((line) => line.split(' '));
    return Number(values[names.indexOf('IPReversePathFilter')]);
  };
  const before = dropped();
  assert.ok(pod.pings('192.0.2.10'));
  assert.equal(dropped(), before);
  pod.run('ip address add 198.51.100.7/32 dev lo');
  pod.run('ip link set lo up');
  assert.ok(!pod.pings('192.0.2.10', '-I', '198.51.100.7'));
  assert.ok(dropped() > before);
});
