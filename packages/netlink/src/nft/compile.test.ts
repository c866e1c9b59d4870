import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import { decode } from '@heddle/wire';
import { counter } from './changes.ts';
import type { Expression } from './codec/expressions.ts';
import { ruleMessage } from './codec/rule.ts';
import { compile } from './compile.ts';
import type { NftFamily } from './model.ts';
import { NftError } from './nft-error.ts';
import {
  arp,
  concat,
  ct,
  ether,
  fib,
  icmp,
  icmpv6,
  ip,
  ip6,
  masked,
  meta,
  tcp,
  th,
  udp,
} from './operands.ts';
import { canonical } from './same-expressions.ts';
import {
  accept,
  counterRef,
  dnat,
  drop,
  goto_,
  jump,
  limit,
  log,
  masquerade,
  match,
  notrack,
  raw,
  redirect,
  reject,
  ret,
  type Statement,
  setCtMark,
  setMark,
  setRef,
  snat,
  vmap,
  xtMatch,
} from './statements.ts';
import captures from './vectors/nft-1.0.6.json' with { type: 'json' };

const A = Addr.parse;
const P = Prefix.parse;
const protocolAndPort = concat(ip.daddr, meta.l4proto, th.dport);

/** Each rule of nft beside ours. */
const RULES: Readonly<Record<string, readonly Statement[]>> = {
  'inet t c1 ip saddr 10.0.0.1 counter accept comment "rule comment"': [
    match(ip.saddr, 'eq', A('10.0.0.1')),
    counter(),
    accept(),
  ],
  'inet t c1 ip saddr 10.0.0.0/8 ip daddr != 10.1.0.0/16 masquerade': [
    match(ip.saddr, 'eq', P('10.0.0.0/8')),
    match(ip.daddr, 'ne', P('10.1.0.0/16')),
    masquerade(),
  ],
  'inet t c1 ip saddr 10.0.0.0/12 masquerade': [match(ip.saddr, 'eq', P('10.0.0.0/12')), masquerade()],
  'inet t c1 ip saddr 0.0.0.0/0 masquerade': [match(ip.saddr, 'eq', P('0.0.0.0/0')), masquerade()],
  'inet t c1 ip6 daddr ff00::/8 return': [match(ip6.daddr, 'eq', P('ff00::/8')), ret()],
  'inet t c1 tcp dport 22 drop': [match(tcp.dport, 'eq', 22), drop()],
  'inet t c1 tcp dport 22-30 drop': [match(tcp.dport, 'eq', { from: 22, to: 30 }), drop()],
  'inet t c1 tcp dport != 22-30 drop': [match(tcp.dport, 'ne', { from: 22, to: 30 }), drop()],
  'inet t c1 udp sport >= 1024 drop': [match(udp.sport, 'ge', 1024), drop()],
  'inet t c1 tcp dport { 22, 80 } drop': [match(tcp.dport, 'in', [22, 80]), drop()],
  'inet t c1 ct state established,related accept': [
    match(ct.state, 'in', ['established', 'related']),
    accept(),
  ],
  'inet t c1 ct status dnat masquerade': [match(ct.status, 'in', ['dnat']), masquerade()],
  'inet t c1 meta mark set meta mark and 0xfffffbff or 0x400': [setMark(0x400, 0x400)],
  'inet t c1 meta mark set 0x400': [setMark(0x400)],
  'inet t c1 meta mark and 0x400 == 0x400 return': [match(masked(meta.mark, 0x400), 'eq', 0x400), ret()],
  'inet t c1 meta mark > 0x5 return': [match(meta.mark, 'gt', 5), ret()],
  'inet t c1 fib daddr type local jump c2': [
    match(fib({ by: ['daddr'], result: 'type' }), 'eq', 'local'),
    jump('c2'),
  ],
  'inet t c1 iifname "eth*" drop': [match(meta.iifname, 'eq', 'eth*'), drop()],
  'inet t c1 iifname "eth0" drop': [match(meta.iifname, 'eq', 'eth0'), drop()],
  'inet t c1 dnat ip to ip daddr . meta l4proto . th dport map @m': [
    dnat({ family: 'ip', fromMap: { key: protocolAndPort, map: 'm', withPort: true } }),
  ],
  'inet t c1 dnat ip6 to tcp dport map @m6': [
    dnat({ family: 'ip6', fromMap: { key: tcp.dport, map: 'm6', withPort: true } }),
  ],
  'inet t c1 dnat ip to 10.0.0.1': [dnat({ to: A('10.0.0.1') })],
  'inet t c1 meta l4proto tcp dnat ip to 10.0.0.1:80': [
    match(meta.l4proto, 'eq', 'tcp'),
    dnat({ to: A('10.0.0.1'), port: 80 }),
  ],
  'inet t c1 meta l4proto tcp dnat ip6 to [fd00::1]:80': [
    match(meta.l4proto, 'eq', 'tcp'),
    dnat({ to: A('fd00::1'), port: 80 }),
  ],
  'inet t c1 snat ip to 10.0.0.1': [snat({ to: A('10.0.0.1') })],
  'inet t c1 redirect': [redirect()],
  'inet t c1 meta l4proto tcp redirect to :80': [match(meta.l4proto, 'eq', 'tcp'), redirect({ port: 80 })],
  'inet t c1 masquerade random,fully-random': [masquerade({ random: true, fullyRandom: true })],
  'inet t c1 ip saddr . ip daddr vmap @x': [vmap(concat(ip.saddr, ip.daddr), 'x')],
  'inet t c1 ip saddr vmap @v': [vmap(ip.saddr, 'v')],
  'inet t c1 ip6 saddr @nodes accept': [match(ip6.saddr, 'in', setRef('nodes')), accept()],
  'inet t c1 ip6 saddr != @nodes accept': [match(ip6.saddr, 'notin', setRef('nodes')), accept()],
  'inet t c1 counter name "cc"': [counterRef('cc')],
  'inet t c1 log prefix "hello " level info': [log({ prefix: 'hello ', level: 'info' })],
  'inet t c1 log prefix "hello " group 2': [log({ prefix: 'hello ', group: 2 })],
  'inet t c1 limit rate 10/second burst 5 packets': [limit({ rate: 10, per: 'second' })],
  'inet t c1 limit rate over 10 mbytes/second': [
    limit({ rate: 10 * 2 ** 20, per: 'second', unit: 'bytes', over: true }),
  ],
  'inet t c1 reject': [reject()],
  'inet t c1 reject with tcp reset': [reject('tcp-reset')],
  'inet t c1 reject with icmpx admin-prohibited': [reject('admin-prohibited')],
  'inet t c1 notrack': [notrack()],
  'inet t c1 ct mark set meta mark': [setCtMark(meta.mark)],
  'inet t c1 meta mark set ct mark': [setMark(ct.mark)],
  'inet t c1 ct mark set meta mark and 0xff00': [setCtMark(masked(meta.mark, 0xff00))],
  'inet t c1 meta l4proto { tcp, udp } th dport 80 goto c2': [
    match(meta.l4proto, 'in', ['tcp', 'udp']),
    match(th.dport, 'eq', 80),
    goto_('c2'),
  ],
  'inet t c1 ether saddr 00:11:22:33:44:55 accept': [
    match(ether.saddr, 'eq', Mac.parse('00:11:22:33:44:55')),
    accept(),
  ],
  'inet t c1 ip protocol tcp tcp dport 5 accept': [
    match(ip.protocol, 'eq', 'tcp'),
    match(tcp.dport, 'eq', 5),
    accept(),
  ],
  'inet t c1 icmp type echo-request accept': [match(icmp.type, 'eq', 'echo-request'), accept()],
  'inet t c1 icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept': [
    match(icmpv6.type, 'in', ['nd-neighbor-solicit', 'nd-neighbor-advert']),
    accept(),
  ],
  'inet t c1 ct original ip daddr 1.2.3.4 drop': [match(ct.original.daddr, 'eq', A('1.2.3.4')), drop()],
  'inet t c1 ct direction original drop': [match(ct.direction, 'eq', 'original'), drop()],
  'inet t c1 ip daddr { 10.0.0.0-10.0.0.7, 10.1.0.0/16 } drop': [
    match(ip.daddr, 'in', [{ from: A('10.0.0.0'), to: A('10.0.0.7') }, P('10.1.0.0/16')]),
    drop(),
  ],
  'inet t c1 ip saddr . tcp dport { 10.0.0.0/8 . 80-90 } drop': [
    match(concat(ip.saddr, tcp.dport), 'in', [[P('10.0.0.0/8'), { from: 80, to: 90 }]]),
    drop(),
  ],
  'inet t c1 tcp dport vmap { 1 : accept, 2 : jump c2 }': [
    vmap(tcp.dport, [
      { key: 1, verdict: accept() },
      { key: 2, verdict: jump('c2') },
    ]),
  ],
  'bridge br c ether saddr 00:11:22:33:44:55 return': [
    match(ether.saddr, 'eq', Mac.parse('00:11:22:33:44:55')),
    ret(),
  ],
  'bridge br c ip saddr 1.2.3.4 drop': [match(ip.saddr, 'eq', A('1.2.3.4')), drop()],
  'bridge br c arp saddr ip 1.2.3.4 drop': [match(arp.senderIp, 'eq', A('1.2.3.4')), drop()],
  'ip v4 c ip saddr 1.2.3.4 tcp dport 5 drop': [
    match(ip.saddr, 'eq', A('1.2.3.4')),
    match(tcp.dport, 'eq', 5),
    drop(),
  ],
  'ip v4 c reject': [reject()],
  'ip6 v6 c ip6 saddr fd00::1 udp dport 5 drop': [
    match(ip6.saddr, 'eq', A('fd00::1')),
    match(udp.dport, 'eq', 5),
    drop(),
  ],
  'ip6 v6 c reject with icmpv6 admin-prohibited': [reject('admin-prohibited')],
};

describe('a rule compiles to what nft 1.0.6 makes of it', () => {
  for (const [text, statements] of Object.entries(RULES)) {
    test(text, () => {
      const family = text.slice(0, text.indexOf(' ')) as NftFamily;
      assert.deepEqual(compile(statements, family).map(canonical), rulesOf(text).map(canonical));
    });
  }
});

test('a rule that cannot match in its family is refused', () => {
  const refused: readonly (readonly [NftFamily, Statement[], RegExp])[] = [
    ['ip', [match(ip6.saddr, 'eq', A('fd00::1'))], /ip6 saddr in a rule for ip packets/],
    [
      'inet',
      [match(ip.saddr, 'eq', A('1.2.3.4')), match(ip6.daddr, 'eq', A('::1'))],
      /ip6 daddr in a rule for ip/,
    ],
    ['inet', [match(tcp.dport, 'eq', 1), match(udp.dport, 'eq', 1)], /udp dport in a rule .* protocol 6/],
    ['inet', [match(meta.nfproto, 'eq', 'ipv6'), match(ip.daddr, 'eq', A('1.2.3.4'))], /for ip6 packets/],
    ['inet', [match(arp.senderIp, 'eq', A('1.2.3.4'))], /sees no ARP/],
    ['arp', [reject()], /family arp/],
  ];
  for (const [family, statements, message] of refused) {
    assert.throws(() => compile(statements, family), { name: 'NftError', message });
  }
});

test('a value of the wrong type is refused in words', () => {
  const refused: readonly (readonly [Statement, RegExp])[] = [
    [match(ip.saddr, 'eq', A('::1')), /^::1 is no ipv4_addr$/],
    [match(tcp.dport, 'eq', 65536), /^65536 is no inet_service$/],
    [match(meta.l4proto, 'eq', 'tpc'), /^tpc is no inet_proto$/],
    [match(ip.saddr, 'in', A('1.2.3.4')), /ip saddr in 1\.2\.3\.4: needs a list or a set/],
    [match(ip.saddr, 'in', []), /an empty list matches nothing/],
    [match(concat(ip.saddr, th.dport), 'eq', A('1.2.3.4')), /needs a tuple or a set/],
    [match(concat(ip.saddr, th.dport), 'lt', setRef('s')), /ip saddr \. th dport lt @s: a set has no order/],
    [match(meta.mark, 'eq', { from: 1, to: 2 }), /mark is kept in host order/],
    [match(tcp.dport, 'eq', { from: 9, to: 2 }), /ends before it starts/],
    [setMark(0x401, 0x400), /bits outside of mask/],
    [log({ group: 1, level: 'info' }), /has no level/],
  ];
  for (const [statement, message] of refused) {
    assert.throws(() => compile([statement], 'inet'), { name: 'NftError', message });
  }
});

test('expressions of the kernel pass as they are, inside statements or beside them', () => {
  const expression: Expression = { expr: 'meta', key: 'mark', dreg: 1 };
  assert.deepEqual(compile([raw(expression), expression], 'ip'), [expression, expression]);
  const info = Uint8Array.of(1, 2);
  assert.deepEqual(compile([xtMatch({ name: 'comment', revision: 0, info })], 'ip'), [
    { expr: 'match', extension: 'comment', revision: 0, info },
  ]);
});

test('a key longer than the registers is refused', () => {
  const key = concat(ip6.saddr, ip6.daddr, ct.original.saddr6, ct.original.daddr6, meta.mark);
  assert.throws(() => compile([vmap(key, 'm')], 'inet'), NftError);
});

function rulesOf(text: string): readonly Expression[] {
  const capture = captures.find(({ command }) => command === `nft add rule ${text}`);
  const hex = capture?.messages.find(({ message }) => message === 'NEWRULE')?.hex ?? '';
  return decode(ruleMessage, Uint8Array.from(Buffer.from(hex, 'hex'))).attributes.expressions ?? [];
}
