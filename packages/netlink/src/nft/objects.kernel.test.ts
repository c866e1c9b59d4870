import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { TestNetns } from '../testing/test-netns.ts';
import { add, chain, counter, create, table } from './changes.ts';
import { regular, T, TABLE } from './kernel-ruleset.ts';

const _A = Addr.parse;
const _P = Prefix.parse;

describe('tables, chains and counters', () => {
  test('come back as they were written, comments included', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    const base = { type: 'nat', hook: 'prerouting', priority: -100, policy: 'accept' } as const;
    const objects = [
      table({ family: 'inet', name: 'hd', comment: 'all of ours' }),
      chain({ ...T, name: 'pre', base, comment: 'enters here' }),
      chain({ ...T, name: 'out', base: { type: 'filter', hook: 'output', priority: 5, policy: 'drop' } }),
      chain({ ...T, name: 'plain' }),
      counter({ ...T, name: 'hits', comment: 'of the door' }),
    ];
    await nft.commit(objects.map(create));
    const listed = [...(await nft.tables()), ...(await nft.chains(T)), ...(await nft.counters(T))];
    assert.deepEqual(
      listed.map(({ handle: _, ...rest }) => rest),
      objects.map((object) => (object.kind === 'counter' ? { ...object, packets: 0n, bytes: 0n } : object)),
    );
    const text = lab.run('nft', 'list', 'ruleset');
    assert.match(text, /comment "all of ours"/);
    assert.match(text, /comment "enters here"\n\t\ttype nat hook prerouting priority dstnat; policy accept;/);
    assert.match(text, /type filter hook output priority filter \+ 5; policy drop;/);
    await assert.rejects(nft.commit([create(TABLE)]), {
      errno: 'EEXIST',
      message: /^create table inet hd: EEXIST/,
    });
    await nft.commit([add(TABLE)]);
  });

  test('are told apart by table and family; what is not there has no entries', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    await nft.commit([
      add(TABLE),
      add(table({ family: 'ip', name: 'hd' })),
      add(table({ family: 'inet', name: 'other' })),
      regular('c'),
    ]);
    assert.equal((await nft.tables()).length, 3);
    assert.equal((await nft.tables('ip')).length, 1);
    assert.equal((await nft.chains({ family: 'inet', table: 'other' })).length, 0);
    const none = { family: 'ip6', table: 'none' } as const;
    for (const list of [
      nft.chains(none),
      nft.rules(none),
      nft.sets(none),
      nft.counters(none),
      nft.elements({ ...none, set: 's' }),
    ]) {
      assert.deepEqual(await list, []);
    }
    assert.equal(await nft.findSet({ ...none, set: 's' }), undefined);
    assert.equal(await nft.findElement({ ...none, set: 's', key: 1 }), undefined);
  });
});
