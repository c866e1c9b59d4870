import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestNetns } from '@heddle/netlink/testing';
import { kernelFeatures } from './features.ts';
import type { Lock } from './lock.ts';
import { verifyLock } from './verify.ts';

/** Features, and how the usual tools try the same. */
const FEATURES: readonly (readonly [feature: string, ...commands: string[]])[] = [
  ['link veth', 'ip link add one type veth peer name two'],
  ['link bridge', 'ip link add one type bridge'],
  ['link bridge with VLANs', 'ip link add one type bridge vlan_filtering 1'],
  ['link dummy', 'ip link add one type dummy'],
  ['link ifb', 'ip link add one type ifb'],
  ['link vrf', 'ip link add one type vrf table 100'],
  [
    'link macvlan',
    'ip link add one type veth peer name two',
    'ip link add three link one type macvlan mode bridge',
  ],
  [
    'link ipvlan',
    'ip link add one type veth peer name two',
    'ip link add three link one type ipvlan mode l2',
  ],
  ['link vlan', 'ip link add one type veth peer name two', 'ip link add three link one type vlan id 5'],
  ['nft filter', 'nft add table ip t', 'nft add chain ip t c { type filter hook forward priority 0 ; }'],
  [
    'nft nat',
    'nft add table ip t',
    'nft add chain ip t c { type nat hook postrouting priority 0 ; }',
    'nft add rule ip t c masquerade',
  ],
  [
    'tc tbf',
    'ip link add one type veth peer name two',
    'tc qdisc add dev one root tbf rate 1mbit burst 8k limit 9k',
  ],
  ['tc ingress', 'ip link add one type veth peer name two', 'tc qdisc add dev one ingress'],
];

for (const [feature, ...commands] of FEATURES) {
  test(`"${feature}" is judged as the usual tools find it`, async () => {
    using netns = new TestNetns();
    const works = () => {
      try {
        for (const command of commands) netns.run(command);
        return true;
      } catch {
        return false;
      }
    };
    const problem = await kernelFeatures.problem(feature);
    assert.equal(problem === undefined, works(), problem);
  });
}

test('what the kernel cannot do is an error of its own, and what nobody knows is none', async () => {
  const lock: Lock = { lockVersion: 1, files: [], plugins: [], kernel: ['link warp', 'link veth'] };
  const features = { problem: async (name: string) => (name === 'link warp' ? 'EOPNOTSUPP' : undefined) };
  const at = { lockFile: '/l', directory: '/d' };
  const findings = await verifyLock(lock, { lock, unpinned: [] }, { ...at, features });
  assert.deepEqual(
    findings.map(({ id, what, evidence }) => ({ id, what, evidence })),
    [{ id: 'lock/feature-missing', what: 'the kernel cannot do "link warp"', evidence: ['EOPNOTSUPP'] }],
  );
  assert.equal(await kernelFeatures.problem('link warp'), undefined);
});
