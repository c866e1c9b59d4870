/** Rules that `nft` made, as the kernel has them, in words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestNetns } from '@heddle/netlink/testing';
import { ruleText } from './rule-text.ts';

const RULES: readonly (readonly [rule: string, text: string])[] = [
  ['ip saddr 10.1.2.3 accept', 'ip saddr 10.1.2.3 accept'],
  ['ip daddr 10.1.0.0/16 drop', 'ip daddr 10.1.0.0/16 drop'],
  ['ip daddr 10.1.16.0/20 drop', 'ip daddr 10.1.16.0/20 drop'],
  ['ip6 saddr fd45::/64 counter accept', 'meta nfproto ipv6 ip6 saddr fd45::/64 counter accept'],
  ['iifname eth0 oifname != cni0 return', 'iifname "eth0" oifname != "cni0" return'],
  ['iifname veth* drop', 'iifname "veth*" drop'],
  ['tcp dport 8080 jump other', 'meta l4proto tcp th dport 8080 jump other'],
  ['udp dport 1000-2000 accept', 'meta l4proto udp th dport >= 1000 th dport <= 2000 accept'],
  ['meta mark & 0x2000 == 0x2000 accept', 'meta mark & 0x2000 == 0x2000 accept'],
  ['ip saddr @peers drop', 'ip saddr @peers drop'],
];

test('a rule reads as it was written', async () => {
  using netns = new TestNetns();
  netns.run(
    'nft',
    'add table inet t; add chain inet t c; add chain inet t other; add set inet t peers { type ipv4_addr; }',
  );
  for (const [rule] of RULES) netns.run('nft', `add rule inet t c ${rule}`);
  const rules = await netns.session.nft.rules({ family: 'inet', table: 't', chain: 'c' });
  assert.deepEqual(
    // What nft puts in front of IPv4 rules of this family is the same for all.
    rules.map(({ expressions }) => ruleText(expressions).replace('meta nfproto ipv4 ', '')),
    RULES.map(([, text]) => text),
  );
});
