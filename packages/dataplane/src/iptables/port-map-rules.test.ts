import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import type { PortMapping, PortMaps } from '../port-mapping.ts';
import { masqueradeChain, portMapChain } from './chain-names.ts';
import { planMasquerade, planMasqueradeRemoval } from './masquerade-rules.ts';
import { missingPortMapRules, planPortMapRemoval, planPortMaps } from './port-map-rules.ts';
import { parseTable } from './table.ts';

const owner = { network: 'n1', containerID: 'c1', ifName: 'eth0' };
const target = Prefix.parse('10.77.0.8/24');
const target6 = Prefix.parse('fd00::8/64');
const mappings: readonly PortMapping[] = [
  { hostPort: 8080, containerPort: 80, protocol: 'tcp' },
  { hostPort: 53, containerPort: 53, protocol: 'udp', hostIP: Addr.parse('10.9.9.9') },
];

function maps(changes: Partial<PortMaps> = {}): PortMaps {
  return { mappings, targets: [target, target6], snat: true, masqAll: false, ...changes };
}

const EMPTY = `*nat
:PREROUTING ACCEPT [0:0]
:INPUT ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
COMMIT
`;

/** What the reference's portmap 1.1.1 leaves for the mappings above, as iptables-save 1.8.9 prints it. */
const REFERENCE = `*nat
:PREROUTING ACCEPT [0:0]
:INPUT ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:CNI-DN-7be53730afe4dc6eb2178 - [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
:CNI-HOSTPORT-MASQ - [0:0]
:CNI-HOSTPORT-SETMARK - [0:0]
-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ
-A CNI-DN-7be53730afe4dc6eb2178 -s 10.77.0.0/24 -p tcp -m tcp --dport 8080 -j CNI-HOSTPORT-SETMARK
-A CNI-DN-7be53730afe4dc6eb2178 -s 127.0.0.1/32 -p tcp -m tcp --dport 8080 -j CNI-HOSTPORT-SETMARK
-A CNI-DN-7be53730afe4dc6eb2178 -p tcp -m tcp --dport 8080 -j DNAT --to-destination 10.77.0.8:80
-A CNI-DN-7be53730afe4dc6eb2178 -s 10.77.0.0/24 -d 10.9.9.9/32 -p udp -m udp --dport 53 -j CNI-HOSTPORT-SETMARK
-A CNI-DN-7be53730afe4dc6eb2178 -s 127.0.0.1/32 -d 10.9.9.9/32 -p udp -m udp --dport 53 -j CNI-HOSTPORT-SETMARK
-A CNI-DN-7be53730afe4dc6eb2178 -d 10.9.9.9/32 -p udp -m udp --dport 53 -j DNAT --to-destination 10.77.0.8:53
-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"n1\\" id: \\"c1\\"" -m multiport --dports 8080 -j CNI-DN-7be53730afe4dc6eb2178
-A CNI-HOSTPORT-DNAT -p udp -m comment --comment "dnat name: \\"n1\\" id: \\"c1\\"" -m multiport --dports 53 -j CNI-DN-7be53730afe4dc6eb2178
-A CNI-HOSTPORT-MASQ -m mark --mark 0x2000/0x2000 -j MASQUERADE
-A CNI-HOSTPORT-SETMARK -m comment --comment "CNI portfwd masquerade mark" -j MARK --set-xmark 0x2000/0x2000
COMMIT
`;

describe('chain names', () => {
  test('hash network and container as the reference does', () => {
    assert.equal(portMapChain(owner), 'CNI-DN-7be53730afe4dc6eb2178');
    assert.equal(masqueradeChain(owner), 'CNI-7be53730afe4dc6eb2178d03');
    const containerID =
      'icee6giejonei6sohng6ahngee7laquohquee9shiGo7fohferakah3Feiyoolu2pei7ciPhoh7shaoX6vai3vuf0ahfaeng8yohb9ceu0daez5hashee8ooYai5wa3y';
    assert.equal(portMapChain({ ...owner, network: 'test', containerID }), 'CNI-DN-67e92b96e692a494b6b85');
    assert.equal(
      portMapChain({ ...owner, network: 'testNetName', containerID }),
      'CNI-DN-bfd599665540dd91d5d28',
    );
  });
});

describe('published ports', () => {
  test('the reference left nothing to do', () => {
    assert.deepEqual(planPortMaps(owner, target, maps())(parseTable(REFERENCE)), []);
    assert.deepEqual(missingPortMapRules(parseTable(REFERENCE), owner, target, maps()), []);
  });

  test('an empty table gets chains, shared rules and rules of the container', () => {
    const lines = planPortMaps(owner, target, maps())(parseTable(EMPTY));
    assert.deepEqual(
      lines.filter((line) => !line.includes('CNI-DN-')),
      [
        '-N CNI-HOSTPORT-DNAT',
        '-N CNI-HOSTPORT-SETMARK',
        '-N CNI-HOSTPORT-MASQ',
        '-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
        '-A OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
        '-A CNI-HOSTPORT-SETMARK -m comment --comment "CNI portfwd masquerade mark" -j MARK --set-xmark 0x2000/0x2000',
        '-A CNI-HOSTPORT-MASQ -m mark --mark 0x2000/0x2000 -j MASQUERADE',
        '-I POSTROUTING 1 -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ',
      ],
    );
  });

  test('only what is missing of the shared part is added', () => {
    const damaged = parseTable(REFERENCE.replace(/^-A OUTPUT.*\n/m, ''));
    const lines = planPortMaps(owner, target, maps())(damaged);
    const shared = lines.filter((line) => !line.includes('CNI-DN-'));
    assert.deepEqual(shared, ['-A OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT']);
    // The entry rules are written again with the chain, never twice.
    assert.equal(lines.filter((line) => line.startsWith('-D CNI-HOSTPORT-DNAT')).length, 2);
    assert.equal(lines.filter((line) => line.startsWith('-A CNI-HOSTPORT-DNAT')).length, 2);
  });

  // hostIP × family: how many set-mark and DNAT rules each makes.
  for (const [hostIP, v4, v6] of [
    [undefined, 'MMD', 'MD'],
    ['0.0.0.0', 'MMD', ''],
    ['::', '', 'MD'],
    ['192.168.0.2', 'MMD', ''],
    ['2001:db8:a::1', '', 'MD'],
  ] as const) {
    test(`host IP ${hostIP ?? 'absent'} makes [${v4}] for IPv4 and [${v6}] for IPv6`, () => {
      const mapping: PortMapping = {
        ...{ hostPort: 8080, containerPort: 80, protocol: 'tcp' },
        ...(hostIP !== undefined && { hostIP: Addr.parse(hostIP) }),
      };
      const letters = (prefix: Prefix) =>
        planPortMaps(
          owner,
          prefix,
          maps({ mappings: [mapping] }),
        )(parseTable(EMPTY))
          .filter((line) => line.startsWith('-A CNI-DN-'))
          .map((line) => (line.includes('-j DNAT') ? 'D' : 'M'))
          .join('');
      assert.equal(letters(target), v4);
      assert.equal(letters(target6), v6);
    });
  }

  test('a mapping of the other family is named by the entry rules all the same', () => {
    const lines = planPortMaps(owner, target6, maps())(parseTable(EMPTY));
    assert.ok(lines.some((line) => line.includes('-p udp') && line.includes('--destination-ports 53')));
  });

  test('without snat there is nothing to mark, with masqAll everything is marked once', () => {
    const own = (changes: Partial<PortMaps>) =>
      planPortMaps(
        owner,
        target,
        maps({ mappings: mappings.slice(0, 1), ...changes }),
      )(parseTable(EMPTY)).filter((line) => line.startsWith('-A CNI-DN-'));
    assert.deepEqual(own({ snat: false }), [
      '-A CNI-DN-7be53730afe4dc6eb2178 -p tcp -m tcp --dport 8080 -j DNAT --to-destination 10.77.0.8:80',
    ]);
    assert.match(own({ masqAll: true })[0] ?? '', /-s 0\.0\.0\.0\/0 -j CNI-HOSTPORT-SETMARK$/);
    assert.equal(own({ masqAll: true }).length, 2);
  });

  test('another chain for marking brings no chains of ours', () => {
    const lines = planPortMaps(owner, target, maps(), { setMarkChain: 'KUBE-MARK-MASQ' })(parseTable(EMPTY));
    assert.ok(lines.some((line) => line.endsWith('-j KUBE-MARK-MASQ')));
    assert.ok(!lines.some((line) => line.includes('HOSTPORT-MASQ') || line.includes('HOSTPORT-SETMARK')));
  });

  test('two hundred ports take fourteen entry rules', () => {
    const many = Array.from({ length: 200 }, (_, n): PortMapping => {
      return { hostPort: 20_000 + n, containerPort: 80, protocol: 'tcp' };
    });
    const lines = planPortMaps(owner, target, maps({ mappings: many }))(parseTable(EMPTY));
    const entries = lines.filter((line) => line.startsWith('-A CNI-HOSTPORT-DNAT'));
    assert.equal(entries.length, 14);
    assert.match(entries[0] ?? '', /--destination-ports 20000,20001(,\d+){13} /);
  });

  test('the bit 31 is a mark without sign', () => {
    const lines = planPortMaps(owner, target, maps(), { mark: 2 ** 31 })(parseTable(EMPTY));
    assert.ok(lines.some((line) => line.endsWith('--set-xmark 0x80000000/0x80000000')));
  });

  test('a condition goes into the entry rule, quoted where it must be', () => {
    const conditions = { 4: ['!', '-d', '192.0.2.9', '-m', 'comment', '--comment', 'say "hi"'] };
    const lines = planPortMaps(owner, target, maps({ conditions }))(parseTable(EMPTY));
    const entry = lines.find((line) => line.startsWith('-A CNI-HOSTPORT-DNAT')) ?? '';
    assert.match(
      entry,
      / ! -d 192\.0\.2\.9 -m comment --comment "say \\"hi\\"" -j CNI-DN-7be53730afe4dc6eb2178$/,
    );
  });

  test('no word can smuggle in a line', () => {
    const conditions = { 4: ['-m', 'comment', '--comment', 'x\n-F INPUT'] };
    assert.throws(
      () => planPortMaps(owner, target, maps({ conditions }))(parseTable(EMPTY)),
      /a rule cannot hold a line break/,
    );
  });

  test("an older container's chain to the same address goes", () => {
    const other = REFERENCE.replaceAll('CNI-DN-7be53730afe4dc6eb2178', 'CNI-DN-0123456789abcdef01234');
    const lines = planPortMaps(owner, target, maps())(parseTable(other));
    assert.ok(lines.includes('-X CNI-DN-0123456789abcdef01234'));
    const elsewhere = planPortMaps(owner, Prefix.parse('10.77.0.80/24'), maps())(parseTable(other));
    assert.ok(!elsewhere.some((line) => line.includes('CNI-DN-0123456789abcdef01234')));
  });

  test('removal takes the entry rules and the chain, whatever the ports are; shared chains stay', () => {
    const lines = planPortMapRemoval(owner)(parseTable(REFERENCE));
    assert.deepEqual(lines.slice(-2), ['-F CNI-DN-7be53730afe4dc6eb2178', '-X CNI-DN-7be53730afe4dc6eb2178']);
    assert.equal(lines.length, 4);
    assert.deepEqual(planPortMapRemoval(owner)(parseTable(EMPTY)), []);
  });
});

describe('masquerading', () => {
  test('writes the chain and the way into it, and takes both away', () => {
    const lines = planMasquerade(owner, [target])(parseTable(EMPTY));
    assert.deepEqual(lines, [
      ':CNI-7be53730afe4dc6eb2178d03 - [0:0]',
      '-A CNI-7be53730afe4dc6eb2178d03 -d 10.77.0.0/24 -m comment --comment "name: \\"n1\\" id: \\"c1\\"" -j ACCEPT',
      '-A CNI-7be53730afe4dc6eb2178d03 ! -d 224.0.0.0/4 -m comment --comment "name: \\"n1\\" id: \\"c1\\"" -j MASQUERADE',
      '-A POSTROUTING -s 10.77.0.8/32 -m comment --comment "name: \\"n1\\" id: \\"c1\\"" -j CNI-7be53730afe4dc6eb2178d03',
    ]);
    const table = parseTable(`${EMPTY}${lines.join('\n')}\n`.replace(/^:(\S+)/m, ':$1'));
    assert.deepEqual(planMasquerade(owner, [target])(table), []);
    assert.deepEqual(planMasqueradeRemoval(owner)(table).slice(1), [
      '-F CNI-7be53730afe4dc6eb2178d03',
      '-X CNI-7be53730afe4dc6eb2178d03',
    ]);
  });

  test('the older way in, by the whole network, goes too', () => {
    const old = `${EMPTY}:CNI-7be53730afe4dc6eb2178d03 - [0:0]
-A POSTROUTING -s 10.77.0.0/24 -m comment --comment "name: \\"n1\\" id: \\"c1\\"" -j CNI-7be53730afe4dc6eb2178d03
`;
    assert.match(
      planMasqueradeRemoval(owner)(parseTable(old))[0] ?? '',
      /^-D POSTROUTING -s 10\.77\.0\.0\/24 /,
    );
  });
});
