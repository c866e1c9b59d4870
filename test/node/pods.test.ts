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

test('a pod of one family reaches others, and its node has nothing of the other family on its link', async () => {
  await using node = await TestNode.joined();
  const { lab } = node;
  for (const [family, there, absent] of [
    [4, /state UP/, /inet6/],
    [6, /state UP[\s\S]*inet6 fe80::1\/64/, /inet /],
  ] as const) {
    const single = { type: 'heddle', families: [family] };
    const [one, two] = [lab.container(), lab.container()];
    const first = await lab.add({ config: single, container: one });
    const second = await lab.add({ config: single, container: two });
    for (const address of addressesOf(second)) assert.ok(one.pings(address), `one to ${address}`);
    for (const address of addressesOf(first)) assert.ok(lab.host.pings(address), `the node to ${address}`);
    const [link = ''] = (first.interfaces ?? []).map(({ name }) => name);
    const said = lab.host.run(`ip address show dev ${link}`);
    assert.match(said, there);
    assert.doesNotMatch(said, absent);
    await lab.check({ config: single, container: one, prevResult: first });
    await lab.del({ config: single, container: one, prevResult: first });
    await lab.del({ config: single, container: two, prevResult: second });
  }
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

test('packets from another address than the pod has do not get past its node, over IPv4 and IPv6', async () => {
  await using node = await TestNode.joined();
  const { lab } = node;
  const [pod, other] = [lab.container(), lab.container()];
  await lab.add({ config, container: pod });
  const [ipv4 = '', ipv6 = ''] = addressesOf(await lab.add({ config, container: other }));
  lab.host.run('nft', 'add table inet seen');
  lab.host.run('nft', 'add chain inet seen past { type filter hook forward priority 0; }');
  lab.host.run('nft', 'add rule inet seen past meta l4proto { icmp, icmpv6 } counter');
  const past = () => Number(/packets (\d+)/.exec(lab.host.run('nft list chain inet seen past'))?.[1]);
  pod.run('ip link set lo up');
  for (const [target, foreign, bits] of [
    [ipv4, '198.51.100.7', 32],
    [ipv6, '2001:db8:7::7', 128],
  ] as const) {
    const before = past();
    assert.ok(pod.pings(target), target);
    const own = past();
    assert.ok(own > before, target);
    pod.run(`ip address add ${foreign}/${bits} dev lo`);
    assert.ok(!pod.pings(target, '-I', foreign), foreign);
    assert.equal(past(), own, foreign);
  }
});
