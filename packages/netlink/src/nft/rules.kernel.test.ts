import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import { TestNetns } from '../testing/test-netns.ts';
import { add, chain, counter, delete_, flush, insert, replace, rule, table } from './changes.ts';
import { compile } from './compile.ts';
import { prepared, T } from './kernel-ruleset.ts';
import type { NftFamily } from './model.ts';
import { concat, ct, ether, fib, ip, ip6, masked, meta, tcp, th } from './operands.ts';
import { sameExpressions } from './same-expressions.ts';
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
  xtTarget,
} from './statements.ts';

const A = Addr.parse;
const P = Prefix.parse;

const RULES: Readonly<Partial<Record<NftFamily, readonly (readonly [Statement[], string])[]>>> = {
  inet: [
    [[match(ip.saddr, 'eq', A('10.0.0.1')), accept()], 'ip saddr 10.0.0.1 accept'],
    [
      [match(ip.saddr, 'eq', P('10.0.0.0/8')), match(ip.daddr, 'ne', P('10.1.16.0/20')), masquerade()],
      'ip saddr 10.0.0.0/8 ip daddr != 10.1.16.0/20 masquerade',
    ],
    [[match(ip6.daddr, 'eq', P('ff00::/8')), ret()], 'ip6 daddr ff00::/8 return'],
    [[match(tcp.dport, 'eq', { from: 80, to: 90 }), drop()], 'tcp dport 80-90 drop'],
    [[match(tcp.dport, 'ne', { from: 80, to: 90 }), drop()], 'tcp dport != 80-90 drop'],
    [[match(tcp.dport, 'in', [22, { from: 80, to: 90 }]), drop()], 'tcp dport { 22, 80-90 } drop'],
    [
      [match(concat(ip.saddr, tcp.dport), 'in', [[A('1.2.3.4'), 80]]), drop()],
      'ip saddr . tcp dport { 1.2.3.4 . 80 } drop',
    ],
    [
      [match(ct.state, 'in', ['established', 'related']), counter(), accept()],
      'ct state established,related counter packets 0 bytes 0 accept',
    ],
    [[match(ct.status, 'in', ['dnat']), masquerade()], 'ct status dnat masquerade'],
    [[setMark(0x400, 0x400)], 'meta mark set meta mark | 0x00000400'],
    [[setMark(0, 0x400)], 'meta mark set meta mark & 0xfffffbff'],
    [[setMark(ct.mark)], 'meta mark set ct mark'],
    [[setCtMark(meta.mark)], 'ct mark set meta mark'],
    [
      [match(masked(meta.mark, 0x400), 'eq', 0x400), jump('d')],
      'meta mark & 0x00000400 == 0x00000400 jump d',
    ],
    [[match(meta.mark, 'gt', 5), goto_('d')], 'meta mark > 0x00000005 goto d'],
    [[match(fib({ by: ['daddr'], result: 'type' }), 'eq', 'local'), accept()], 'fib daddr type local accept'],
    [[match(meta.iifname, 'eq', 'hd*'), drop()], 'iifname "hd*" drop'],
    [
      [
        dnat({
          family: 'ip',
          fromMap: { key: concat(ip.daddr, meta.l4proto, th.dport), map: 'ports', withPort: true },
        }),
      ],
      'dnat ip to ip daddr . meta l4proto . th dport map @ports',
    ],
    [
      [match(meta.l4proto, 'eq', 'tcp'), dnat({ to: A('fd00::1'), port: 80 })],
      'meta l4proto tcp dnat ip6 to [fd00::1]:80',
    ],
    [[snat({ to: A('10.0.0.1') }, { random: true })], 'snat ip to 10.0.0.1 random'],
    [[match(tcp.dport, 'eq', 1), redirect({ port: 80 })], 'tcp dport 1 redirect to :80'],
    [[masquerade({ fullyRandom: true })], 'masquerade fully-random'],
    [[vmap(concat(ip.saddr, ip.daddr), 'policy')], 'ip saddr . ip daddr vmap @policy'],
    [
      [
        vmap(tcp.dport, [
          { key: 1, verdict: accept() },
          { key: { from: 5, to: 9 }, verdict: jump('d') },
        ]),
      ],
      'tcp dport vmap { 1 : accept, 5-9 : jump d }',
    ],
    [[match(ip6.saddr, 'notin', setRef('nodes6')), drop()], 'ip6 saddr != @nodes6 drop'],
    [[counterRef('hits')], 'counter name "hits"'],
    [[log({ prefix: 'x ', group: 3 })], 'log prefix "x " group 3'],
    [[log({ prefix: 'x ', level: 'info' })], 'log prefix "x " level info'],
    [[log()], 'log'],
    [[limit({ rate: 10, per: 'minute', burst: 3 })], 'limit rate 10/minute burst 3 packets'],
    [[reject()], 'reject'],
    [[reject('tcp-reset')], 'meta l4proto tcp reject with tcp reset'],
    [[notrack()], 'notrack'],
    [
      [match(ether.saddr, 'eq', Mac.parse('0a:58:0a:00:00:05')), accept()],
      'ether saddr 0a:58:0a:00:00:05 accept',
    ],
  ],
  bridge: [
    [
      [match(ether.saddr, 'eq', Mac.parse('0a:58:0a:00:00:05')), ret()],
      'ether saddr 0a:58:0a:00:00:05 return',
    ],
    [[match(ip.saddr, 'eq', A('1.2.3.4')), drop()], 'ip saddr 1.2.3.4 drop'],
    [[match(ip6.saddr, 'eq', P('fe80::/64')), drop()], 'ip6 saddr fe80::/64 drop'],
  ],
  ip: [
    [[match(ip.saddr, 'eq', P('0.0.0.0/0')), masquerade()], 'ip saddr 0.0.0.0/0 masquerade'],
    [[reject()], 'reject'],
  ],
  ip6: [[[match(tcp.dport, 'eq', 5), reject('no-route')], 'tcp dport 5 reject with icmpv6 no-route']],
};

describe('a rule', () => {
  for (const [family, rules] of Object.entries(RULES) as [NftFamily, (readonly [Statement[], string])[]][]) {
    test(`in ${family} reads in nft as it was meant, and comes back as it was written`, async () => {
      using lab = new TestNetns();
      const { nft } = lab.session;
      const where = { family, table: 'hd' } as const;
      if (family === 'inet') await prepared(lab);
      else await nft.commit([add(table({ family, name: 'hd' })), add(chain({ ...where, name: 'c' }))]);
      await nft.commit(
        rules.map(([expressions], at) =>
          add(rule({ ...where, chain: 'c', expressions, comment: `rule ${at}` })),
        ),
      );

      const listed = await nft.rules({ ...where, chain: 'c' });
      assert.equal(listed.length, rules.length);
      const text = lab.run('nft', 'list', 'chain', family, 'hd', 'c');
      for (const [at, [statements, expected]] of rules.entries()) {
        assert.ok(text.includes(`\t${expected} comment "rule ${at}"\n`), `${expected}\n${text}`);
        assert.equal(listed[at]?.comment, `rule ${at}`);
        assert.ok(
          sameExpressions(listed[at]?.expressions ?? [], compile(statements, family)),
          `${expected}: ${JSON.stringify(listed[at]?.expressions, plain)}`,
        );
      }
    });
  }

  test('is added behind or in front of others, replaced and deleted', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    await prepared(lab);
    const named = (comment: string) => rule({ ...T, chain: 'c', expressions: [accept()], comment });
    const order = async () => (await nft.rules({ ...T, chain: 'c' })).map((each) => each.comment);
    await nft.commit([add(named('b')), insert(named('a')), add(named('d'))]);
    const [, b] = await nft.rules({ ...T, chain: 'c' });
    assert.ok(b !== undefined);
    await nft.commit([add({ ...named('c'), position: b.handle })]);
    assert.deepEqual(await order(), ['a', 'b', 'c', 'd']);
    await nft.commit([
      insert({ ...named('a2'), position: b.handle }),
      replace({ ...named('B'), handle: b.handle }),
    ]);
    assert.deepEqual(await order(), ['a', 'a2', 'B', 'c', 'd']);
    const [first] = await nft.rules({ ...T, chain: 'c' });
    assert.ok(first !== undefined);
    await nft.commit([delete_(first), add(first)]);
    assert.deepEqual(await order(), ['a2', 'B', 'c', 'd', 'a']);
    await assert.rejects(nft.commit([delete_(first)]), { errno: 'ENOENT' });
    await assert.rejects(nft.commit([delete_(named('a'))]), /no handle/);
    await nft.commit([flush(chain({ ...T, name: 'c' }))]);
    assert.deepEqual(await order(), []);
  });

  test('may hold extensions of iptables, which iptables-nft then shows', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    const written = '-s 10.0.0.1/32 -m comment --comment hi -m mark --mark 0x1 -j MASQUERADE';
    lab.run('iptables-nft', '-t', 'nat', '-A', 'POSTROUTING', ...written.split(' '));
    const NAT = { family: 'ip', table: 'nat' } as const;
    const [listed] = await nft.rules({ ...NAT, chain: 'POSTROUTING' });
    assert.ok(listed !== undefined);
    const names = listed.expressions.map((each) => each.expr);
    assert.ok(names.includes('match') && !names.includes('raw'), names.join());
    const comment = listed.expressions.find((each) => each.expr === 'match' && each.extension === 'comment');
    const target = listed.expressions.find((each) => each.expr === 'target');
    assert.ok(comment?.expr === 'match' && comment.info !== undefined);
    assert.ok(target?.expr === 'target' && target.info !== undefined);
    const expressions = [
      xtMatch({ name: 'comment', revision: 0, info: comment.info }),
      counter(),
      xtTarget({ name: 'MASQUERADE', revision: 0, info: target.info }),
    ];
    await nft.commit([add(rule({ ...NAT, chain: 'POSTROUTING', expressions })), add(listed)]);
    const text = lab.run('iptables-nft', '-t', 'nat', '-S', 'POSTROUTING');
    assert.match(text, /-A POSTROUTING -m comment --comment hi -j MASQUERADE\n/);
    assert.equal(text.split(`-A POSTROUTING ${written}\n`).length, 3);
    const [, , copy] = await nft.rules({ ...NAT, chain: 'POSTROUTING' });
    assert.ok(sameExpressions(copy?.expressions ?? [], listed.expressions));
  });
});

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
