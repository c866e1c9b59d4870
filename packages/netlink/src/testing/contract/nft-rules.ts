import assert from 'node:assert/strict';
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import {
  add,
  chain,
  counter,
  create,
  delete_,
  flush,
  insert,
  replace,
  rule,
  set,
  table,
} from '../../nft/changes.ts';
import { compile } from '../../nft/compile.ts';
import type { NftChain } from '../../nft/model.ts';
import { concat, ct, ether, fib, ip, ip6, meta, tcp } from '../../nft/operands.ts';
import { sameExpressions } from '../../nft/same-expressions.ts';
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
  redirect,
  reject,
  ret,
  type Statement,
  setMark,
  setRef,
} from '../../nft/statements.ts';
import type { KernelSession } from '../../session/session.ts';
import { type Case, refused } from './case.ts';

const A = Addr.parse;
const P = Prefix.parse;
const T = { family: 'inet', table: 'hd' } as const;
const TABLE = table({ family: 'inet', name: 'hd' });
const FILTER = { type: 'filter', hook: 'input', priority: 0, policy: 'accept' } as const;
const NAT = { type: 'nat', hook: 'postrouting', priority: 100, policy: 'accept' } as const;
const regular = (name: string) => chain({ ...T, name });
const rules = (name: string, ...expressions: readonly Statement[]) =>
  rule({ ...T, chain: name, expressions });

/** The comments of the rules of a chain, in order. */
async function order({ nft }: KernelSession, name = 'c'): Promise<(string | undefined)[]> {
  return (await nft.rules({ ...T, chain: name })).map(({ comment }) => comment);
}

/** Tables, chains, rules and counters. */
export const nftRuleCases: readonly Case[] = [
  {
    name: 'tables, chains and counters come back as they were written',
    async run({ host: { nft } }) {
      const objects = [
        table({ family: 'inet', name: 'hd', comment: 'all of ours' }),
        chain({
          ...T,
          name: 'pre',
          base: { ...NAT, hook: 'prerouting', priority: -100 },
          comment: 'enters here',
        }),
        chain({ ...T, name: 'out', base: { ...FILTER, hook: 'output', priority: 5, policy: 'drop' } }),
        regular('plain'),
        counter({ ...T, name: 'hits', comment: 'of the door' }),
      ];
      await nft.commit(objects.map(create));
      const listed = [...(await nft.tables()), ...(await nft.chains(T)), ...(await nft.counters(T))];
      assert.deepEqual(
        listed.map(({ handle: _, ...rest }) => rest),
        objects.map((object) => (object.kind === 'counter' ? { ...object, packets: 0n, bytes: 0n } : object)),
      );
      assert.deepEqual(
        (await nft.chains(T)).map(({ handle }) => handle),
        [1, 2, 3],
      );
      await refused(nft.commit([create(TABLE)]), 'EEXIST');
      await nft.commit([add(TABLE), delete_(TABLE)]);
      assert.deepEqual(await nft.tables(), []);
      await refused(nft.commit([delete_(TABLE)]), 'ENOENT');
    },
  },
  {
    name: 'a batch is done as a whole or not at all, and the change that is refused is named',
    async run({ host: { nft } }) {
      await nft.commit([add(TABLE), add(regular('c'))]);
      const generation = await nft.generation();
      const wrong = [add(regular('d')), add(rules('d', jump('nowhere'))), add(regular('e'))];
      await assert.rejects(nft.commit(wrong), /^NetlinkError: add rule to chain inet hd d: ENOENT/);
      assert.deepEqual(
        (await nft.chains(T)).map(({ name }) => name),
        ['c'],
      );
      assert.equal(await nft.generation(), generation);
      await nft.commit([add(regular('d')), add(rules('d', jump('c')))]);
      assert.equal(await nft.generation(), generation + 1);
      await refused(nft.commit([add(regular('e'))], { generation }), 'ERESTART');
      await nft.commit([add(regular('e'))], { generation: generation + 1 });
    },
  },
  {
    name: 'rules come at the end, in front, beside others and in the place of others',
    async run({ host }) {
      const named = (comment: string) => rule({ ...T, chain: 'c', expressions: [accept()], comment });
      await host.nft.commit([
        add(TABLE),
        add(regular('c')),
        add(named('b')),
        insert(named('a')),
        add(named('d')),
      ]);
      const [, b] = await host.nft.rules({ ...T, chain: 'c' });
      const { handle } = b ?? assert.fail();
      await host.nft.commit([
        add({ ...named('c'), position: handle }),
        insert({ ...named('a2'), position: handle }),
      ]);
      assert.deepEqual(await order(host), ['a', 'a2', 'b', 'c', 'd']);
      await host.nft.commit([replace({ ...named('B'), handle })]);
      assert.deepEqual(await order(host), ['a', 'a2', 'B', 'c', 'd']);
      const first = (await host.nft.rules({ ...T, chain: 'c' }))[0] ?? assert.fail();
      await host.nft.commit([delete_(first)]);
      await refused(host.nft.commit([delete_(first)]), 'ENOENT');
      await refused(host.nft.commit([add({ ...named('x'), position: 999 })]), 'ENOENT');
      await refused(host.nft.commit([replace({ ...named('x'), handle: 999 })]), 'ENOENT');
      await host.nft.commit([flush(regular('c'))]);
      assert.deepEqual(await order(host), []);
    },
  },
  {
    name: 'rules are listed with the expressions that they were made of',
    async run({ host: { nft } }) {
      const written: readonly (readonly Statement[])[] = [
        [match(ip.saddr, 'eq', P('10.0.0.0/8')), match(ip.daddr, 'ne', P('10.1.16.0/20')), counter(), ret()],
        [match(ip6.daddr, 'eq', A('fd00::1')), jump('d')],
        [match(tcp.dport, 'eq', { from: 80, to: 90 }), drop()],
        [match(tcp.dport, 'in', [22, { from: 80, to: 90 }]), drop()],
        [match(concat(ip.saddr, tcp.dport), 'in', [[A('1.2.3.4'), 80]]), goto_('d')],
        [match(ct.state, 'in', ['established', 'related']), accept()],
        [match(fib({ by: ['daddr'], result: 'type' }), 'eq', 'local'), accept()],
        [match(meta.iifname, 'eq', 'hd*'), drop()],
        [match(ether.saddr, 'eq', Mac.parse('0a:58:0a:00:00:05')), accept()],
        [setMark(0x400, 0x400)],
        [match(ip6.saddr, 'notin', setRef('nodes')), reject()],
        [counterRef('hits'), log({ prefix: 'x ', group: 3 }), limit({ rate: 10, per: 'minute', burst: 3 })],
      ];
      await nft.commit([
        ...[TABLE, regular('c'), regular('d'), counter({ ...T, name: 'hits' })].map(add),
        add(set({ ...T, name: 'nodes', key: 'ipv6_addr', intervals: true })),
        ...written.map((each) => add(rules('c', ...each))),
      ]);
      const listed = await nft.rules({ ...T, chain: 'c' });
      assert.equal(listed.length, written.length);
      for (const [at, statements] of written.entries()) {
        const expressions = listed[at]?.expressions ?? [];
        assert.ok(sameExpressions(expressions, compile(statements, 'inet')), `rule ${at}`);
      }
      // Sets without a name go with their rules.
      assert.deepEqual(
        (await nft.sets(T)).map(({ name }) => name),
        ['nodes'],
      );
      await nft.commit([
        flush(TABLE),
        delete_(set({ ...T, name: 'nodes', key: 'ipv6_addr', intervals: true })),
      ]);
    },
  },
  {
    name: 'what rules refer to must be there, and stays as long as they do',
    async run({ host: { nft } }) {
      const names = set({ ...T, name: 's', key: 'ipv4_addr' });
      const hits = counter({ ...T, name: 'hits' });
      await nft.commit([
        ...[TABLE, regular('c'), regular('d'), names, hits].map(add),
        add(chain({ ...T, name: 'base', base: FILTER })),
      ]);
      await refused(nft.commit([add(rules('c', match(ip.saddr, 'in', setRef('none')), drop()))]), 'ENOENT');
      await refused(nft.commit([add(rules('c', counterRef('none')))]), 'ENOENT');
      await refused(nft.commit([add(rules('none', drop()))]), 'ENOENT');
      await refused(nft.commit([add(rules('c', jump('base')))]), 'EOPNOTSUPP');
      await nft.commit([
        add(rules('c', jump('d'))),
        add(rules('c', match(ip.saddr, 'in', setRef('s')), drop())),
        add(rules('c', counterRef('hits'))),
      ]);
      for (const object of [regular('d'), names, hits]) await refused(nft.commit([delete_(object)]), 'EBUSY');
      await nft.commit([flush(regular('c')), ...[regular('d'), names, hits].map(delete_)]);
      for (const object of [regular('d'), names, hits])
        await refused(nft.commit([delete_(object)]), 'ENOENT');
      await nft.commit([add(rules('c', drop())), delete_(regular('c'))]);
    },
  },
  {
    name: 'chains where there are none of their kind; a chain stays at its hook',
    async run({ host: { nft } }) {
      const base = (options: Partial<NonNullable<NftChain['base']>>) =>
        chain({ ...T, name: 'x', base: { ...FILTER, ...options } });
      await nft.commit([add(TABLE), add(regular('c')), add(chain({ ...T, name: 'in', base: FILTER }))]);
      await refused(nft.commit([add(base({ type: 'nat', hook: 'forward' }))]), 'EOPNOTSUPP');
      await refused(
        nft.commit([add(base({ type: 'nat', hook: 'prerouting', priority: -300 }))]),
        'EOPNOTSUPP',
      );
      await refused(nft.commit([add(base({ type: 'route', hook: 'input' }))]), 'EOPNOTSUPP');
      await refused(
        nft.commit([add(chain({ ...T, name: 'in', base: { ...FILTER, priority: 1 } }))]),
        'EOPNOTSUPP',
      );
      await refused(nft.commit([add(chain({ ...T, name: 'c', base: FILTER }))]), 'EOPNOTSUPP');
      await refused(nft.commit([create(chain({ ...T, name: 'in', base: FILTER }))]), 'EEXIST');
      await nft.commit([add(chain({ ...T, name: 'in', base: { ...FILTER, policy: 'drop' } }))]);
      assert.equal((await nft.chains(T)).find(({ name }) => name === 'in')?.base?.policy, 'drop');
      await refused(nft.commit([add(chain({ family: 'ip', table: 'none', name: 'c' }))]), 'ENOENT');
    },
  },
  {
    name: 'addresses are translated where packets come by for it, also through jumps',
    async run({ host: { nft } }) {
      await nft.commit([
        ...[TABLE, regular('c'), regular('d')].map(add),
        add(chain({ ...T, name: 'in', base: FILTER })),
        add(chain({ ...T, name: 'post', base: NAT })),
        add(rules('post', masquerade())),
        add(rules('c', masquerade())),
        add(rules('d', redirect({ port: 80 }))),
      ]);
      await refused(nft.commit([add(rules('in', masquerade()))]), 'EOPNOTSUPP');
      await refused(nft.commit([add(rules('in', jump('c')))]), 'EOPNOTSUPP');
      await nft.commit([add(rules('post', jump('c')))]);
      await refused(nft.commit([add(rules('post', jump('d')))]), 'EOPNOTSUPP');
      await refused(nft.commit([add(rules('post', dnat({ to: A('10.0.0.1') })))]), 'EOPNOTSUPP');
    },
  },
  {
    name: 'jumps go round only where no packet can come, and not too deep',
    async run({ host: { nft } }) {
      await nft.commit([
        ...[TABLE, regular('c'), regular('d')].map(add),
        add(chain({ ...T, name: 'in', base: FILTER })),
        add(rules('c', jump('d'))),
        add(rules('d', jump('c'))),
      ]);
      await refused(nft.commit([add(rules('in', jump('c')))]), 'EMLINK');
    },
  },
  {
    name: 'families are told apart; what is not there has no entries',
    async run({ host: { nft } }) {
      await nft.commit(
        [TABLE, table({ family: 'ip', name: 'hd' }), table({ family: 'inet', name: 'other' })].map(add),
      );
      assert.equal((await nft.tables()).length, 3);
      assert.equal((await nft.tables('ip')).length, 1);
      const none = { family: 'ip6', table: 'none' } as const;
      const lists = [
        nft.chains(none),
        nft.rules(none),
        nft.sets(none),
        nft.counters(none),
        nft.elements({ ...none, set: 's' }),
      ];
      for (const list of lists) assert.deepEqual(await list, []);
      assert.equal(await nft.findSet({ ...none, set: 's' }), undefined);
    },
  },
];
