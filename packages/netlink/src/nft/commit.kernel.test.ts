import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { TestNetns } from '../testing/test-netns.ts';
import {
  add,
  chain,
  create,
  delete_,
  destroy,
  element,
  flush,
  type NftChange,
  rule,
  set,
} from './changes.ts';
import { HITS, NODES6, POLICY, PORTS, prepared, regular, T, TABLE } from './kernel-ruleset.ts';
import { formatKey } from './key-values.ts';
import type { NftElement } from './model.ts';
import { accept, counterRef, jump } from './statements.ts';

const A = Addr.parse;
const P = Prefix.parse;

describe('a commit', () => {
  test('changes nothing when one change is refused, and names that change', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    await prepared(lab);
    const before = lab.run('nft', 'list', 'ruleset');
    const refused: readonly (readonly [NftChange, string, RegExp])[] = [
      [
        add(rule({ ...T, chain: 'c', expressions: [jump('nowhere')], comment: 'bad' })),
        'ENOENT',
        /^add rule to chain inet hd c \(bad\): ENOENT/,
      ],
      [
        add(rule({ ...T, chain: 'none', expressions: [accept()] })),
        'ENOENT',
        /^add rule to chain inet hd none: ENOENT/,
      ],
      [delete_(chain({ ...T, name: 'none' })), 'ENOENT', /^delete chain inet hd none: ENOENT/],
      [
        delete_(element({ ...T, set: 'nodes6', key: A('::5') })),
        'ENOENT',
        /^delete element ::5 from set inet hd nodes6: ENOENT/,
      ],
      [
        add(element({ ...T, set: 'none', key: A('::5') })),
        'ENOENT',
        /^add element ::5 to set inet hd none: ENOENT/,
      ],
      [create(HITS), 'EEXIST', /^create counter inet hd hits: EEXIST/],
      [delete_(HITS), 'EBUSY', /^delete counter inet hd hits: EBUSY/],
    ];
    await nft.commit([add(rule({ ...T, chain: 'd', expressions: [counterRef('hits')] }))]);
    const busy = lab.run('nft', 'list', 'ruleset');
    assert.notEqual(busy, before);
    for (const [change, errno, message] of refused) {
      const good = [add(chain({ ...T, name: 'good' })), add(element({ ...T, set: 'nodes6', key: A('::1') }))];
      await assert.rejects(nft.commit([...good, change, add(chain({ ...T, name: 'more' }))]), {
        errno,
        message,
      });
      assert.equal(lab.run('nft', 'list', 'ruleset'), busy);
    }
  });

  test('names the one of many elements that the kernel refuses', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    await prepared(lab);
    const at = (n: number) => element({ ...T, set: 'nodes6', key: P(`fd00:${n.toString(16)}::/32`) });
    await nft.commit([add(at(70))]);
    const many = Array.from({ length: 100 }, (_, n) => create(at(n)));
    await assert.rejects(nft.commit(many), {
      message: /^create element fd00:46::\/32 to set inet hd nodes6: EEXIST/,
    });
    await assert.rejects(nft.commit([delete_(at(70)), delete_(at(71))]), {
      message: /^delete element fd00:47::\/32 from/,
    });
  });

  test('takes 10,000 elements at once, in several messages, and gives them all back', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    const pods = Array.from({ length: 10_000 }, (_, n) => ({
      key: [A('10.0.0.1'), n % 2 === 0 ? 'tcp' : 'udp', 1 + n] as const,
      data: [A(`10.${1 + (n >> 8)}.${n & 255}.2`), 80] as const,
    }));
    const elements = pods.map((pod) => element({ ...T, set: PORTS, ...pod, comment: `pod ${pod.key[2]}` }));
    await nft.commit([add(TABLE), add(PORTS), ...elements.map(add)]);
    const listed = await nft.elements({ ...T, set: 'ports' });
    const texts = (list: readonly NftElement[]) =>
      list.map((each) => `${formatKey(each.key)} ${each.comment}`).toSorted();
    assert.deepEqual(texts(listed), texts(elements));
    const counted = lab.run('sh', '-c', `nft list map inet hd ports | grep -o '"pod [0-9]*"' | wc -l`);
    assert.equal(Number(counted), 10_000);

    // The last one is there twice: nothing of it all may stay.
    const more = elements.map((each) =>
      create({ ...each, key: [A('10.0.0.2'), ...pods.slice(0, 1).flatMap(() => ['tcp', 9] as const)] }),
    );
    await assert.rejects(nft.commit(more), { errno: 'EEXIST' });
    assert.equal((await nft.elements({ ...T, set: 'ports' })).length, 10_000);
    await nft.commit(elements.map(delete_));
    assert.deepEqual(await nft.elements({ ...T, set: 'ports' }), []);
  });

  test('adds and deletes again and again without leaving a trace', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    await prepared(lab);
    const before = lab.run('nft', 'list', 'ruleset');
    for (let round = 0; round < 200; round++) {
      const pod = element({
        ...T,
        set: POLICY,
        key: [P(`10.${round}.0.0/16`), A('10.0.0.1')],
        data: accept(),
      });
      const net = element({ ...T, set: NODES6, key: P(`fd00:${round.toString(16)}::/32`) });
      await nft.commit([add(pod), add(net)]);
      await nft.commit([delete_(pod), delete_(net)]);
    }
    assert.equal(lab.run('nft', 'list', 'ruleset'), before);
  });

  test('destroys what is there and is content with what is not', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    const gone = (set: string, key: NftElement['key']) => destroy(element({ ...T, set, key }));
    // Nothing exists, not even the table.
    await nft.commit([
      destroy(TABLE),
      destroy(chain({ ...T, name: 'c' })),
      destroy(HITS),
      gone('ports', [A('1.2.3.4'), 'tcp', 1]),
    ]);
    await prepared(lab);
    const key = [A('1.2.3.4'), 'tcp', 1] as const;
    await nft.commit([
      add(element({ ...T, set: 'ports', key, data: [A('10.0.0.1'), 1] })),
      add(element({ ...T, set: 'nodes6', key: P('fd00::/8') })),
      add(rule({ ...T, chain: 'c', expressions: [accept()] })),
    ]);
    const [listed] = await nft.rules({ ...T, chain: 'c' });
    assert.ok(listed !== undefined);
    await nft.commit([
      gone('ports', [A('1.2.3.4'), 'udp', 7]),
      gone('ports', ['1.2.3.4', 6, 1]),
      gone('ports', [A('1.2.3.5'), 'tcp', 1]),
      gone('nodes6', P('fd00::/16')),
      gone('nodes6', P('fd00::/8')),
      gone('none', 1),
      destroy(listed),
      destroy({ ...listed, handle: 999 }),
      destroy(chain({ ...T, name: 'none' })),
      destroy(chain({ ...T, name: 'd' })),
      destroy(POLICY),
      destroy(set({ ...T, name: 'none', key: 'mark' })),
      destroy(HITS),
    ]);
    assert.deepEqual(await nft.elements({ ...T, set: 'ports' }), []);
    assert.deepEqual(await nft.elements({ ...T, set: 'nodes6' }), []);
    assert.deepEqual(await nft.rules(T), []);
    assert.deepEqual(
      (await nft.chains(T)).map(({ name }) => name),
      ['c'],
    );
    assert.deepEqual(
      (await nft.sets(T)).map(({ name }) => name),
      ['ports', 'nodes6'],
    );
    await nft.commit([destroy(TABLE)]);
    assert.deepEqual(await nft.tables(), []);
  });

  test('is refused when the ruleset is not that of the generation any more', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    const generation = await nft.generation();
    await nft.commit([add(TABLE)], { generation });
    await assert.rejects(nft.commit([regular('c')], { generation }), { errno: 'ERESTART' });
    assert.equal(await nft.generation(), generation + 1);
    await nft.commit([], { generation });
  });

  test('flushes sets and tables', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    await prepared(lab);
    await nft.commit([
      add(element({ ...T, set: 'nodes6', key: P('fd00::/8') })),
      add(rule({ ...T, chain: 'c', expressions: [accept()] })),
      add(rule({ ...T, chain: 'd', expressions: [accept()] })),
    ]);
    await nft.commit([flush(NODES6), flush(TABLE)]);
    assert.deepEqual(await nft.elements({ ...T, set: 'nodes6' }), []);
    assert.deepEqual(await nft.rules(T), []);
  });
});
