/** That pods of a cluster are let through where the node forwards nothing by itself, with either kind of iptables. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Prefix } from '@heddle/netaddr';
import { TestNetns } from '@heddle/netlink/testing';
import { addFirewall } from '../firewall/firewall.ts';
import { ProgramPath } from '../testing/program-path.ts';
import { removeClusterForward, syncClusterForward } from './forward.ts';

const POOLS = ['10.244.0.0/16', 'fd00:10:244::/48'].map((text) => Prefix.parse(text));
const PROGRAMS = ['iptables', 'ip6tables'] as const;
const owner = { network: 'n1', containerID: 'c1', ifName: 'eth0' };

/** The rules of a chain, without what differs from release to release. */
function rules(node: TestNetns, program: string, chain: string): readonly string[] {
  const all = node.run(`${program}-save -t filter`).split('\n');
  return all.filter((line) => line.startsWith(`-A ${chain} `));
}

function targets(node: TestNetns, program: string): readonly (string | undefined)[] {
  return rules(node, program, 'FORWARD').map((line) => / -j (\S+)$/.exec(line)?.[1]);
}

/** A node that forwards nothing, between a pod and somebody else. */
function lab() {
  const stack = new DisposableStack();
  const node = stack.use(new TestNetns());
  const pod = stack.use(new TestNetns());
  const other = stack.use(new TestNetns());
  for (const each of [node, pod, other]) each.skipAddressDetection();
  node.join(pod, ['pod', 'eth0']);
  node.join(other, ['wire', 'eth0']);
  node.run('ip link set lo up');
  node.run('sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1');
  for (const [link, there, net4, net6] of [
    ['pod', pod, '10.244.0', 'fd00:10:244:'],
    ['wire', other, '192.0.2', '2001:db8:'],
  ] as const) {
    node.run(`ip address add ${net4}.1/24 dev ${link}`);
    node.run(`ip address add ${net6}:1/64 dev ${link}`);
    there.run(`ip address add ${net4}.2/24 dev eth0`);
    there.run(`ip address add ${net6}:2/64 dev eth0`);
    there.run(`ip route add default via ${net4}.1`);
    there.run(`ip -6 route add default via ${net6}:1`);
  }
  for (const program of PROGRAMS) node.run(`${program} -P FORWARD DROP`);
  const reached = () => ['10.244.0.2', 'fd00:10:244::2'].map((address) => other.pings(address));
  return { node, reached, [Symbol.dispose]: () => stack.dispose() };
}

for (const kind of ['nft', 'legacy'] as const) {
  const skip = kind === 'legacy' && ProgramPath.NO_LEGACY;
  test(`pods are let through, once and for all that is there: ${kind}`, { skip }, async () => {
    using stack = new DisposableStack();
    if (kind === 'legacy') stack.use(ProgramPath.legacy());
    using made = lab();
    const { node, reached } = made;
    assert.deepEqual(reached(), [false, false]);
    assert.equal(await syncClusterForward(node.session, POOLS), 2);
    assert.deepEqual(reached(), [true, true]);
    assert.equal(await syncClusterForward(node.session, POOLS), 0);
    for (const [harm, changes] of [
      ['-F', 1],
      ['-F HEDDLE-FORWARD', 1],
      ['-A HEDDLE-FORWARD -s 203.0.113.0/24 -j ACCEPT', 1],
      ['-D FORWARD 1', 1],
      ['-I FORWARD -j HEDDLE-FORWARD', 1],
      ['-A FORWARD -s 203.0.113.0/24 -j DROP', 0],
    ] as const) {
      node.run(`iptables ${harm}`);
      assert.equal(await syncClusterForward(node.session, POOLS), changes, harm);
      assert.deepEqual(rules(node, 'iptables', 'HEDDLE-FORWARD'), [
        '-A HEDDLE-FORWARD -s 10.244.0.0/16 -j ACCEPT',
        '-A HEDDLE-FORWARD -d 10.244.0.0/16 -j ACCEPT',
      ]);
      assert.equal(targets(node, 'iptables').filter((target) => target === 'HEDDLE-FORWARD').length, 1);
    }
    // Another pool instead.
    assert.equal(await syncClusterForward(node.session, [Prefix.parse('10.9.0.0/16')]), 1);
    assert.deepEqual(reached(), [false, true]);
    assert.equal(await removeClusterForward(node.session), 2);
    assert.equal(await removeClusterForward(node.session), 0);
    assert.deepEqual(reached(), [false, false]);
    assert.deepEqual(targets(node, 'iptables'), ['DROP']);
    for (const program of PROGRAMS) assert.doesNotMatch(node.run(`${program}-save`), /HEDDLE/);
  });
}

test('the operator and bridges that are kept apart come first, whoever of them was there before', async () => {
  using made = lab();
  const { node } = made;
  const wanted = ['CNI-ISOLATION-STAGE-1', 'CNI-FORWARD', 'HEDDLE-FORWARD'];
  const firewall = () =>
    addFirewall(
      node.session,
      owner,
      POOLS.map(({ addr }) => addr),
      {
        ...{ backend: 'iptables', zone: 'trusted', adminChain: 'CNI-ADMIN' },
        isolation: { bridge: 'br0', within: 'allowed' },
      },
    );
  await syncClusterForward(node.session, POOLS);
  await firewall();
  for (const program of PROGRAMS) assert.deepEqual(targets(node, program), wanted);
  assert.equal(await syncClusterForward(node.session, POOLS), 0);
  await removeClusterForward(node.session);
  await syncClusterForward(node.session, POOLS);
  for (const program of PROGRAMS) assert.deepEqual(targets(node, program), wanted);
  for (const program of PROGRAMS) {
    node.run(`${program} -D FORWARD 3`);
    node.run(`${program} -I FORWARD -j HEDDLE-FORWARD`);
  }
  assert.equal(await syncClusterForward(node.session, POOLS), 2);
  for (const program of PROGRAMS) assert.deepEqual(targets(node, program), wanted);
});
