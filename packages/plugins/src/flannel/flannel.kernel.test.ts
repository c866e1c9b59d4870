import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubIpam } from '../testing/index.ts';
import { FlannelNode, NODE } from './testing.ts';

test('pods of a node get addresses of its subnet, on a bridge with the daemon’s MTU', async () => {
  using node = new FlannelNode();
  node.tell(NODE[4] + NODE[6]);
  const pod = node.lab.container();
  const { ips, routes } = await node.lab.add({ config: node.config(), container: pod });
  assert.deepEqual(
    ips?.map(({ address, gateway }) => [address, gateway]),
    [
      ['10.1.17.2/24', '10.1.17.1'],
      ['fd00:1:0:17::2/64', 'fd00:1:0:17::1'],
    ],
  );
  assert.deepEqual(
    routes?.map(({ dst }) => dst),
    ['10.1.0.0/16', 'fd00:1::/48'],
  );
  assert.match(pod.run('ip', 'link', 'show', 'eth0'), /mtu 1450/);
  assert.match(pod.run('ip', 'route'), /^10\.1\.0\.0\/16 via 10\.1\.17\.1 dev eth0/m);
  assert.match(node.lab.host.run('ip', 'address', 'show', 'cni0'), /inet 10\.1\.17\.1\/24/);
  assert.doesNotMatch(node.lab.host.run('nft', 'list', 'ruleset'), /net: net1/);
  assert.deepEqual(node.saved(), ['c1']);
  assert.equal(node.read('c1')['mtu'], 1450);
});

test('the bridge masquerades when the daemon does not', async () => {
  using node = new FlannelNode();
  node.tell(NODE[4], 'FLANNEL_MTU=1450\nFLANNEL_IPMASQ=false\n');
  const pod = node.lab.container();
  const prevResult = await node.lab.add({ config: node.config(), container: pod });
  assert.match(node.lab.host.run('nft', 'list', 'ruleset'), /net: net1/);
  await node.lab.check({ config: node.config(), container: pod, prevResult });
  await node.lab.del({ config: node.config(), container: pod });
  assert.doesNotMatch(node.lab.host.run('nft', 'list', 'ruleset'), /net: net1/);
});

test('DEL takes down what ADD made, also when the node’s subnet is another one or not known', async () => {
  for (const meanwhile of ['same', 'moved', 'restarted', 'gone']) {
    using node = new FlannelNode();
    node.tell(NODE[4], 'FLANNEL_MTU=1450\nFLANNEL_IPMASQ=false\n');
    const pod = node.lab.container();
    const call = { config: node.config(), container: pod };
    await node.lab.add(call);
    if (meanwhile === 'moved') node.tell('FLANNEL_NETWORK=10.2.0.0/16\nFLANNEL_SUBNET=10.2.9.1/24\n');
    if (meanwhile === 'restarted') node.forget();
    await node.lab.del(meanwhile === 'gone' ? { ...call, netns: '/nowhere' } : call);
    await node.lab.del(call);
    assert.deepEqual([node.saved(), node.reserved()], [[], []], meanwhile);
    assert.doesNotMatch(node.lab.host.run('ip', '-o', 'link'), /veth/, meanwhile);
    assert.doesNotMatch(node.lab.host.run('nft', 'list', 'ruleset'), /net: net1/, meanwhile);
  }
});

test('DEL goes by the daemon’s word when nothing is written down, or nothing of use', async () => {
  using node = new FlannelNode();
  node.tell(NODE[4]);
  for (const text of [undefined, '{"name": "net1", "ty']) {
    const call = { config: node.config(), container: node.lab.container() };
    await node.lab.add(call);
    node.lose(call.container.id);
    if (text !== undefined) node.plant(call.container.id, text);
    await node.lab.del(call);
    assert.deepEqual([node.saved(), node.reserved()], [[], []]);
  }
});

test('DEL takes away what an ADD that was killed had begun to write down, and nobody else’s', async () => {
  using node = new FlannelNode();
  node.tell(NODE[4]);
  const call = { config: node.config(), container: node.lab.container() };
  for (const text of ['', '{"name": "net1", "ty']) {
    node.plant(`.${call.container.id}.new`, text);
    node.plant('.other.new', text);
    await node.lab.del(call);
    assert.deepEqual(node.saved(), ['.other.new']);
  }
});

test('two networks of a container do not mix up what is written down', async () => {
  using node = new FlannelNode();
  node.tell(NODE[4]);
  const container = node.lab.container();
  const first = { config: node.config({ name: 'first', delegate: { bridge: 'b1' } }), container };
  const second = {
    config: node.config({ name: 'second', delegate: { bridge: 'b2' } }),
    ...{ container, ifName: 'eth1' },
  };
  await node.lab.add(first);
  await node.lab.add(second);
  await node.lab.del(first);
  assert.deepEqual([node.reserved('first'), node.saved()], [[], ['c1']]);
  await node.lab.del(second);
  assert.deepEqual([node.reserved('second'), node.saved()], [[], []]);
  assert.doesNotMatch(node.lab.host.run('ip', '-o', 'link'), /veth/);
});

test('a failed ADD leaves nothing', async () => {
  const ipam = new StubIpam();
  using node = new FlannelNode([ipam.plugin]);
  node.tell(NODE[4]);
  ipam.failing.add('ADD');
  const call = { config: node.config({ ipam: { type: 'stub' } }), container: node.lab.container() };
  await assert.rejects(node.lab.add(call), { cniCode: 100, msg: 'stub: ADD fails as told' });
  assert.deepEqual([node.saved(), [...ipam.held]], [[], []]);
  assert.doesNotMatch(node.lab.host.run('ip', '-o', 'link'), /veth/);
});

test('a failed ADD of a second interface leaves what is written down for the first', async () => {
  const ipam = new StubIpam();
  using node = new FlannelNode([ipam.plugin]);
  node.tell(NODE[4]);
  const call = { config: node.config({ delegate: { mtu: 1300 } }), container: node.lab.container() };
  await node.lab.add(call);
  ipam.failing.add('ADD');
  const second = { ...call, config: node.config({ ipam: { type: 'stub' } }), ifName: 'eth1' };
  await assert.rejects(node.lab.add(second), { msg: 'stub: ADD fails as told' });
  assert.equal(node.read('c1')['mtu'], 1300);
});

test('what the delegate was told stays until its DEL has worked', async () => {
  const ipam = new StubIpam();
  using node = new FlannelNode([ipam.plugin]);
  node.tell(NODE[4]);
  ipam.answer = { ips: [{ address: '10.1.17.9/24' }] };
  const call = { config: node.config({ ipam: { type: 'stub' } }), container: node.lab.container() };
  await node.lab.add(call);
  ipam.failing.add('DEL');
  await assert.rejects(node.lab.del(call), { msg: 'stub: DEL fails as told' });
  assert.deepEqual(node.saved(), ['c1']);
  ipam.failing.clear();
  await node.lab.del(call);
  assert.deepEqual([node.saved(), [...ipam.held]], [[], []]);
});

test('CHECK tells a lost address, a lost file and a lost subnet, all at once', async () => {
  using node = new FlannelNode();
  node.tell(NODE[4]);
  const pod = node.lab.container();
  const prevResult = await node.lab.add({ config: node.config(), container: pod });
  const call = { config: node.config(), container: pod, prevResult };
  await node.lab.check(call);
  node.forget();
  await node.lab.check(call);

  node.tell('FLANNEL_NETWORK=10.1.0.0/16\nFLANNEL_SUBNET=10.1.18.1/24\n');
  pod.run('ip', 'address', 'flush', 'dev', 'eth0');
  await assert.rejects(node.lab.check(call), {
    cniCode: 150,
    msg: /10\.1\.17\.0\/24 is no subnet of this node any more: it has 10\.1\.18\.0\/24; address 10\.1\.17\.2\/24 is missing/,
  });
  node.lose('c1');
  await assert.rejects(node.lab.check(call), {
    msg: /what the delegate was told for c1 is not written down/,
  });
});

test('GC collects what is stale, also of the delegate that the network had before', async () => {
  using node = new FlannelNode();
  node.tell(NODE[4]);
  const [valid, stale] = [node.lab.container(), node.lab.container()];
  await node.lab.add({ config: node.config(), container: valid });
  await node.lab.add({ config: node.config(), container: stale });
  await node.lab.add({ config: node.config({ name: 'net2' }), container: stale, ifName: 'eth1' });
  node.plant('c9', '{"name": "other", "type": "bridge"}');
  node.plant(
    'c8',
    '{"cniVersion": "0.3.1", "name": "net1", "type": "bridge", "ipam": {"type": "host-local"}}',
  );
  node.forget();
  await node.lab.gc(node.config(), [{ containerID: valid.id, ifname: 'eth0' }]);
  // The container's file tells of its second network by now, whose business it is.
  assert.deepEqual(node.saved(), ['c1', 'c2', 'c9']);
  assert.deepEqual(node.reserved(), ['10.1.17.2']);
  assert.equal(node.lab.host.run('ip', '-o', 'link', 'show', 'type', 'veth').trim().split('\n').length, 2);
  await node.lab.gc(node.config({ name: 'net2' }), []);
  assert.deepEqual([node.saved(), node.reserved('net2')], [['c1', 'c9'], []]);
});

test('without the daemon’s file, ADD may be tried again, and STATUS says that the node is not ready', async () => {
  using node = new FlannelNode();
  const missing = /^loadFlannelSubnetEnv failed: open .*subnet\.env: no such file or directory$/;
  const call = { config: node.config(), container: node.lab.container() };
  await assert.rejects(node.lab.add(call), { cniCode: 11, msg: missing });
  await assert.rejects(node.lab.status(node.config()), { cniCode: 50, msg: missing });
  node.tell(NODE[4]);
  await node.lab.status(node.config());
  node.lab.host.run('ip', 'link', 'add', 'cni0', 'type', 'veth', 'peer', 'name', 'x');
  await assert.rejects(node.lab.status(node.config()), { cniCode: 50, msg: /not a bridge/ });
});

test('options of the delegate take effect', async () => {
  using node = new FlannelNode();
  node.tell(NODE[4]);
  const delegate = { bridge: 'mynet0', mtu: 1400, hairpinMode: true, isDefaultGateway: true };
  const pod = node.lab.container();
  await node.lab.add({ config: node.config({ delegate }), container: pod });
  assert.match(pod.run('ip', 'route'), /^default via 10\.1\.17\.1/m);
  assert.match(pod.run('ip', 'link', 'show', 'eth0'), /mtu 1400/);
  assert.match(node.lab.host.run('ip', '-d', '-o', 'link', 'show', 'master', 'mynet0'), /hairpin on/);
});
