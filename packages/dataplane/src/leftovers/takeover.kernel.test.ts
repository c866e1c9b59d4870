/** CHECK of what the reference's nftables backends wrote: all there is fine, and any rule less is drift. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CNI_CODE, CniError } from '@heddle/cni';
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import { TestNetns } from '@heddle/netlink/testing';
import { addMasquerade, checkMasquerade } from '../masquerade.ts';
import type { PortMaps } from '../port-mapping.ts';
import { addPortMaps, checkPortMaps } from '../port-maps.ts';
import { addSpoofCheck, checkSpoofCheck } from '../spoof-check.ts';

const owner = { network: 'n1', containerID: 'c1', ifName: 'eth0' };
const nftables = { backend: 'nftables' } as const;

interface TakenOver {
  /** The reference's tables, a line for each chain and rule. */
  readonly script: readonly string[];
  /** The lines that CHECK can do without: those of others. */
  readonly optional: RegExp;
  readonly check: (host: KernelSession) => Promise<void>;
  /** Writes something of ours. */
  readonly add: (host: KernelSession) => Promise<void>;
}

const prefixes = ['10.77.0.8/20', '10.78.0.8/24', 'fd77::8/61', 'fd78::8/64'].map((text) =>
  Prefix.parse(text),
);
const tag = (id: string) => `comment "43d91f8451058a70-${id}, net: n1, if: eth0`;
const masquerading: TakenOver = {
  script: [
    'table inet cni_plugins_masquerade {',
    'chain masq_checks {',
    `ip saddr 10.77.0.8 ip daddr != 10.77.0.0/20 masquerade ${tag('f4d01f2ef4b92245')}, id: c1"`,
    `ip saddr 10.78.0.8 ip daddr != 10.78.0.0/24 masquerade ${tag('f4d01f2ef4b92245')}, id: c1"`,
    `ip6 saddr fd77::8 ip6 daddr != fd77::/61 masquerade ${tag('f4d01f2ef4b92245')}, id: c1"`,
    `ip6 saddr fd78::8 ip6 daddr != fd78::/64 masquerade ${tag('f4d01f2ef4b92245')}, id: c1"`,
    `ip saddr 10.77.0.9 ip daddr != 10.77.0.0/20 masquerade ${tag('8c6ebb285a95686c')}, id: c2"`,
    '}',
    'chain postrouting {',
    'type nat hook postrouting priority 100;',
    'ip daddr 224.0.0.0/4 return',
    'ip6 daddr ff00::/8 return',
    'goto masq_checks',
    '}',
    '}',
  ],
  optional: /id: c2|^type/,
  check: (host) => checkMasquerade(host, owner, prefixes, nftables),
  add: (host) => addMasquerade(host, owner, [Prefix.parse('10.99.0.1/24')], nftables),
};

const maps: PortMaps = {
  mappings: [
    { hostPort: 8080, containerPort: 80, protocol: 'tcp' },
    { hostPort: 53, containerPort: 53, protocol: 'udp', hostIP: Addr.parse('10.9.9.9') },
    { hostPort: 54, containerPort: 53, protocol: 'udp', hostIP: Addr.parse('2001:db8::1') },
    { hostPort: 9, containerPort: 99, protocol: 'sctp', hostIP: Addr.parse('0.0.0.0') },
  ],
  targets: [Prefix.parse('10.77.0.8/24'), Prefix.parse('fd77::8/64')],
  snat: true,
  masqAll: false,
};
const hostports = (family: 'ip' | 'ip6', pods: readonly string[], masquerades: readonly string[]) => [
  `table ${family} cni_hostport {`,
  'chain hostports {',
  ...pods.map((rule) => `${rule} comment "c1"`),
  'tcp dport 8080 comment "c10"',
  '}',
  'chain hostip_hostports { }',
  'chain hostports_all {',
  'jump hostip_hostports',
  'jump hostports',
  '}',
  'chain prerouting {',
  'type nat hook prerouting priority -100;',
  'meta mark != 0x1 fib daddr type local jump hostports_all',
  '}',
  'chain output {',
  'type nat hook output priority -100;',
  'meta mark != 0x1 fib daddr type local jump hostports_all',
  '}',
  'chain masquerading {',
  'type nat hook postrouting priority 100;',
  ...masquerades.map((rule) => `${rule} comment "c1"`),
  '}',
  '}',
];
const published = (
  more: Partial<PortMaps>,
  masq4: readonly string[],
  masq6: readonly string[],
): TakenOver => ({
  script: [
    ...hostports(
      'ip',
      [
        'tcp dport 8080 dnat to 10.77.0.8:80',
        'ip daddr 10.9.9.9 udp dport 53 dnat to 10.77.0.8:53',
        'sctp dport 9 dnat to 10.77.0.8:99',
      ],
      masq4,
    ),
    ...hostports(
      'ip6',
      ['tcp dport 8080 dnat to [fd77::8]:80', 'ip6 daddr 2001:db8::1 udp dport 54 dnat to [fd77::8]:53'],
      masq6,
    ),
  ],
  optional: /c10|^type|jump hostip_hostports/,
  check: (host) => checkPortMaps(host, owner, { ...maps, ...more }, nftables),
  add: (host) => addPortMaps(host, owner, { ...maps, mappings: maps.mappings.slice(0, 1) }, nftables),
});

const spoofing = { hostLink: 'veth1', mac: Mac.parse('02:00:00:00:00:01') };
const checked: TakenOver = {
  script: [
    'table bridge nat {',
    'chain cni-br-iface-c1-eth0-mac {',
    'ether saddr 02:00:00:00:00:01 return comment "macspoofchk-c1-eth0"',
    'drop comment "macspoofchk-c1-eth0"',
    '}',
    'chain cni-br-iface-c1-eth0 {',
    'jump cni-br-iface-c1-eth0-mac comment "macspoofchk-c1-eth0"',
    '}',
    'chain PREROUTING {',
    'type filter hook prerouting priority -300;',
    'iifname "veth1" jump cni-br-iface-c1-eth0 comment "macspoofchk-c1-eth0"',
    '}',
    '}',
  ],
  optional: /^type/,
  check: (host) => checkSpoofCheck(host, owner, spoofing),
  add: (host) => addSpoofCheck(host, owner, { ...spoofing, hostLink: 'veth2' }),
};

for (const [what, { script, optional, check, add }] of Object.entries({
  masquerading,
  'published ports': published(
    {},
    ['ip saddr 10.77.0.8 ip daddr 10.77.0.8 masquerade', 'ip saddr 127.0.0.1 ip daddr 10.77.0.8 masquerade'],
    ['ip6 saddr fd77::8 ip6 daddr fd77::8 masquerade'],
  ),
  'published ports with masqAll': published(
    { masqAll: true },
    ['ip saddr 0.0.0.0/0 ip daddr 10.77.0.8 masquerade'],
    ['ip6 saddr ::/0 ip6 daddr fd77::8 masquerade'],
  ),
  'published ports without snat': published({ snat: false }, [], []),
  'source addresses': checked,
})) {
  describe(`the reference's nftables: ${what}`, () => {
    test('as it wrote it', async () => {
      using node = new TestNetns();
      node.run('nft', script.join('\n'));
      await check(node.session);
    });

    test('any rule less is missed', async () => {
      for (const [at, line] of script.entries()) {
        if (/^(table|chain|\})/.test(line) || optional.test(line)) continue;
        using node = new TestNetns();
        node.run('nft', script.toSpliced(at, 1).join('\n'));
        await assert.rejects(
          () => check(node.session),
          (error) => isDrift(error, line),
          line,
        );
      }
    });

    test('another rule in the place of one is missed', async () => {
      using node = new TestNetns();
      const changed = script.join('\n').replaceAll('.0.8', '.0.7').replaceAll('::8', '::7');
      node.run('nft', changed.replaceAll('02:00:00:00:00:01', '02:00:00:00:00:02'));
      await assert.rejects(() => check(node.session), isDrift);
    });

    test('does not excuse what is missing of ours', async () => {
      using node = new TestNetns();
      node.run('nft', script.join('\n'));
      await add(node.session);
      await assert.rejects(() => check(node.session), /missing element/);
    });
  });
}

function isDrift(error: unknown, line = ''): boolean {
  const text = line.replace(/ comment ".*|^meta mark != 0x1 fib daddr type local /g, '');
  return error instanceof CniError && error.cniCode === CNI_CODE.DRIFT && error.message.endsWith(text);
}
