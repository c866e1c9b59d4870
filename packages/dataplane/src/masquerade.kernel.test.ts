/** Masquerading on the real kernel: what it does to packets, and what it leaves behind. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CNI_CODE, CniError } from '@heddle/cni';
import { Prefix } from '@heddle/netaddr';
import { TestNetns } from '@heddle/netlink/testing';
import { addMasquerade, checkMasquerade, gcMasquerade, removeMasquerade } from './masquerade.ts';
import { staleAllBut } from './testing/stale-all-but.ts';

const owner = { network: 'n1', containerID: 'c1', ifName: 'eth0' };
const other = { ...owner, containerID: 'c2' };
const prefixes = [Prefix.parse('10.77.0.8/16'), Prefix.parse('fd77::8/48')];
const nftables = { backend: 'nftables' } as const;
const drift = (text: RegExp) => (error: unknown) =>
  error instanceof CniError && error.cniCode === CNI_CODE.DRIFT && text.test(error.message);

/**
 * A pod 10.77.0.8 behind a node; a neighbour 10.77.1.9 in the pod's own network, and a stranger 192.0.2.2, both of
 * whom have no way back to the pod but know the node.
 */
class Routed implements Disposable {
  readonly node = new TestNetns();
  readonly pod = new TestNetns();
  readonly neighbour = new TestNetns();
  readonly stranger = new TestNetns();

  constructor() {
    const { node } = this;
    for (const each of [node, this.pod, this.neighbour, this.stranger]) each.skipAddressDetection();
    node.run('sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1');
    for (const [there, name, ours, theirs] of [
      [this.pod, 'pod', ['10.77.0.1/24', 'fd77::1/64'], ['10.77.0.8/24', 'fd77::8/64']],
      [this.neighbour, 'near', ['10.77.1.1/24', 'fd77:0:0:1::1/64'], ['10.77.1.9/24', 'fd77:0:0:1::9/64']],
      [this.stranger, 'far', ['192.0.2.1/24', '2001:db8::1/64'], ['192.0.2.2/24', '2001:db8::2/64']],
    ] as const) {
      node.join(there, [name, 'eth0']);
      for (const address of ours) node.run(`ip address add ${address} dev ${name}`);
      for (const address of theirs) there.run(`ip address add ${address} dev eth0`);
    }
    this.pod.run('ip route add default via 10.77.0.1');
    this.pod.run('ip route add default via fd77::1');
  }

  reaches(address: string): boolean {
    return this.pod.pings(address, '-W', '1');
  }

  [Symbol.dispose](): void {
    for (const each of [this.node, this.pod, this.neighbour, this.stranger]) each[Symbol.dispose]();
  }
}

for (const backend of ['nftables', 'iptables'] as const) {
  test(`a pod reaches strangers, and its own network as itself: ${backend}`, async () => {
    using net = new Routed();
    const { session } = net.node;
    assert.equal(net.reaches('192.0.2.2'), false);
    await addMasquerade(session, owner, prefixes, { backend });
    await addMasquerade(session, owner, prefixes, { backend });
    await checkMasquerade(session, owner, prefixes, { backend });
    for (const address of ['192.0.2.2', '2001:db8::2']) assert.equal(net.reaches(address), true, address);
    // The neighbour gets the pod's own address, to which it has no way back.
    for (const address of ['10.77.1.9', 'fd77:0:0:1::9']) assert.equal(net.reaches(address), false, address);
    net.neighbour.run('ip route add 10.77.0.0/24 via 10.77.1.1');
    assert.equal(net.reaches('10.77.1.9'), true);

    await removeMasquerade(session, owner, prefixes);
    await removeMasquerade(session, owner);
    for (const address of ['192.0.2.2', '2001:db8::2']) assert.equal(net.reaches(address), false, address);
    await assert.rejects(() => checkMasquerade(session, owner, prefixes, { backend }), drift(/missing/));
  });
}

describe('nftables', () => {
  test('an address belongs to who had it last', async () => {
    using node = new TestNetns();
    await addMasquerade(node.session, owner, prefixes, nftables);
    await addMasquerade(node.session, other, prefixes.slice(0, 1), nftables);
    await assert.rejects(
      () => checkMasquerade(node.session, owner, prefixes, nftables),
      drift(/missing element masquerade4 10\.77\.0\.8 .*; element home4 10\.77\.0\.8 \. 10\.77\.0\.0\/16/),
    );
    await removeMasquerade(node.session, owner);
    await checkMasquerade(node.session, other, prefixes.slice(0, 1), nftables);
    assert.doesNotMatch(node.ruleset, /id: c1/);
  });

  test('two hundred at once', async () => {
    using node = new TestNetns();
    const all = Array.from({ length: 200 }, (_, n) => n);
    const one = (n: number) => ({ ...owner, containerID: `p${n}` });
    const at = (n: number) => [Prefix.parse(`10.77.0.${n + 2}/24`), Prefix.parse(`fd77::${n + 2}/64`)];
    await Promise.all(all.map((n) => addMasquerade(node.session, one(n), at(n), nftables)));
    for (const n of [0, 99, 199]) await checkMasquerade(node.session, one(n), at(n), nftables);
    await Promise.all(all.map((n) => removeMasquerade(node.session, one(n))));
    assert.doesNotMatch(node.ruleset, /id: p/);
  });

  test('a flushed table is built again, a deleted one too', async () => {
    using node = new TestNetns();
    await addMasquerade(node.session, owner, prefixes, nftables);
    const whole = node.ruleset;
    node.run('nft flush table inet heddle');
    await assert.rejects(
      () => checkMasquerade(node.session, owner, prefixes, nftables),
      drift(/missing the rules of table inet heddle$/),
    );
    await addMasquerade(node.session, owner, prefixes, nftables);
    assert.equal(node.ruleset, whole);
    node.run('nft delete table inet heddle');
    await addMasquerade(node.session, owner, prefixes, nftables);
    assert.equal(node.ruleset, whole);
  });
});

describe('what others left', () => {
  test("the reference's nftables rules go, of this owner only", async () => {
    using node = new TestNetns();
    node.run(
      'nft',
      `table inet cni_plugins_masquerade {
        chain masq_checks {
          ip saddr 10.77.0.8 ip daddr != 10.77.0.0/24 masquerade comment "43d91f8451058a70-f4d01f2ef4b92245, net: n1, if: eth0, id: c1"
          ip6 saddr fd77::8 ip6 daddr != fd77::/64 masquerade comment "43d91f8451058a70-f4d01f2ef4b92245, net: n1, if: eth0, id: c1"
          ip saddr 10.77.0.9 ip daddr != 10.77.0.0/24 masquerade comment "43d91f8451058a70-8c6ebb285a95686c, net: n1, if: eth0, id: c2"
        }
        chain postrouting { type nat hook postrouting priority srcnat; policy accept; goto masq_checks; }
      }`,
    );
    await removeMasquerade(node.session, owner);
    assert.doesNotMatch(node.ruleset, /id: c1/);
    assert.match(node.ruleset, /id: c2/);
    await gcMasquerade(node.session, staleAllBut('n2'));
    assert.match(node.ruleset, /id: c2/);
    await gcMasquerade(node.session, staleAllBut('n1', 'c2'));
    assert.match(node.ruleset, /id: c2/);
    await gcMasquerade(node.session, staleAllBut('n1'));
    assert.doesNotMatch(node.ruleset, /id: c2/);
  });

  test('iptables chains go, the older way in as well', async () => {
    using node = new TestNetns();
    await addMasquerade(node.session, owner, prefixes, { backend: 'iptables' });
    await addMasquerade(node.session, other, [Prefix.parse('10.77.0.9/24')], { backend: 'iptables' });
    const saved = () => node.run('iptables-save -t nat');
    assert.match(
      saved(),
      /^-A POSTROUTING -s 10\.77\.0\.8\/32 -m comment --comment "name: \\"n1\\" id: \\"c1\\"" -j CNI-7be53730afe4dc6eb2178d03$/m,
    );
    node.run('iptables -t nat -A POSTROUTING -s 10.77.0.0/24 -j CNI-7be53730afe4dc6eb2178d03');
    await removeMasquerade(node.session, owner);
    assert.doesNotMatch(saved(), /7be53730afe4dc6eb2178d03/);
    assert.match(saved(), /id: \\"c2\\"/);
    assert.doesNotMatch(node.run('ip6tables-save -t nat'), /CNI-/);
  });
});

test('GC takes what is stale of its network, whichever backend wrote it', async () => {
  using node = new TestNetns();
  const at = (n: number) => [Prefix.parse(`10.77.0.${n}/24`)];
  let n = 2;
  for (const backend of ['nftables', 'iptables'] as const) {
    for (const [network, id] of [
      ['n1', 'live'],
      ['n1', 'stale'],
      ['n2', 'foreign'],
    ] as const) {
      await addMasquerade(
        node.session,
        { network, containerID: `${id}-${backend}`, ifName: 'eth0' },
        at(n++),
        { backend },
      );
    }
  }
  await gcMasquerade(node.session, staleAllBut('n1', 'live-nftables', 'live-iptables'));
  const left = node.ruleset + node.run('iptables-save -t nat');
  const ids = [...left.matchAll(/id: \\?"?([\w-]+)/g)].map(([, id]) => id);
  assert.deepEqual([...new Set(ids)].sort(), [
    'foreign-iptables',
    'foreign-nftables',
    'live-iptables',
    'live-nftables',
  ]);
});

test('a node without iptables needs none', async () => {
  using node = new TestNetns();
  const { PATH } = process.env;
  process.env['PATH'] = '/nowhere';
  try {
    for (const backend of ['nftables', 'iptables'] as const) {
      await addMasquerade(node.session, owner, prefixes, { backend });
      await checkMasquerade(node.session, owner, prefixes, { backend });
      await removeMasquerade(node.session, owner);
    }
  } finally {
    process.env['PATH'] = PATH;
  }
});
