import assert from 'node:assert/strict';
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import {
  add,
  chain,
  counter,
  create,
  delete_,
  destroy,
  element,
  flush,
  map,
  set,
  table,
} from '../../nft/changes.ts';
import { formatKey, type KeyValue } from '../../nft/key-values.ts';
import type { NftElement } from '../../nft/model.ts';
import { accept, drop, jump } from '../../nft/statements.ts';
import { type Case, refused } from './case.ts';

const A = Addr.parse;
const P = Prefix.parse;
const T = { family: 'inet', table: 'hd' } as const;
const TABLE = table({ family: 'inet', name: 'hd' });
const HITS = counter({ ...T, name: 'hits' });

const PORTS = map({
  ...{ ...T, name: 'ports', key: ['ipv4_addr', 'inet_proto', 'inet_service'] as const },
  ...{ data: ['ipv4_addr', 'inet_service'] as const, counters: true, comment: 'published' },
});
const POLICY = map({
  ...T,
  name: 'policy',
  key: ['ipv4_addr', 'ipv4_addr'],
  data: 'verdict',
  intervals: true,
});
const NETS4 = set({ ...T, name: 'nets4', key: 'ipv4_addr', intervals: true });
const NETS6 = set({ ...T, name: 'nets6', key: 'ipv6_addr', intervals: true });
const LINKS = set({ ...T, name: 'links', key: ['ifname', 'ether_addr'] });
const COUNTED = map({ ...T, name: 'counted', key: 'ipv6_addr', data: 'counter' });
const MARKS = map({ ...T, name: 'marks', key: 'mark', data: 'mark', size: 2 });
const SETS = [PORTS, POLICY, NETS4, NETS6, LINKS, COUNTED, MARKS];
const PREPARED = [TABLE, chain({ ...T, name: 'd' }), HITS, ...SETS].map(add);

const inSet = (name: string, key: KeyValue, more: Partial<NftElement> = {}) =>
  element({ ...T, set: name, key, ...more });

function text({ set: name, key, comment, data }: NftElement): string {
  const to = typeof data === 'object' && 'kind' in data ? JSON.stringify(data) : data;
  return `${name} ${formatKey(key)} ${comment ?? ''} ${Array.isArray(to) ? to.join(' ') : (to ?? '')}`;
}

/** Sets, maps and their elements. */
export const nftElementCases: readonly Case[] = [
  {
    name: 'sets come back as they were declared, and cannot be declared as others',
    async run({ host: { nft } }) {
      await nft.commit(PREPARED);
      const listed = await nft.sets(T);
      assert.deepEqual(
        listed.map(({ handle: _, ...rest }) => rest),
        SETS,
      );
      await nft.commit(SETS.map(add));
      await refused(nft.commit([create(NETS4)]), 'EEXIST');
      await refused(nft.commit([add({ ...NETS4, intervals: false })]), 'EEXIST');
      await refused(nft.commit([add({ ...LINKS, key: 'ifname' })]), 'EEXIST');
      await refused(nft.commit([delete_({ ...NETS4, name: 'none' })]), 'ENOENT');
    },
  },
  {
    name: 'elements of every kind come back, all together and one by one',
    async run({ host: { nft } }) {
      const elements = [
        inSet('ports', [A('10.0.0.1'), 'tcp', 8080], { data: [A('10.1.0.2'), 80], comment: 'pod one' }),
        inSet('ports', [A('10.0.0.1'), 'sctp', 5], { data: [A('10.1.0.3'), 5] }),
        inSet('policy', [P('10.0.0.0/8'), { from: A('10.1.0.1'), to: A('10.1.0.9') }], { data: jump('d') }),
        inSet('policy', [A('1.2.3.4'), P('0.0.0.0/0')], { data: drop(), comment: 'no' }),
        inSet('nets4', P('10.0.0.0/8')),
        inSet('nets4', P('11.0.0.0/8'), { comment: 'next to it' }),
        inSet('nets4', { from: A('255.255.255.250'), to: A('255.255.255.255') }),
        inSet('nets6', P('fd00::/8')),
        inSet('nets6', A('ff02::1'), { comment: 'all' }),
        inSet('links', ['eth0', Mac.parse('0a:58:00:00:00:01')]),
        inSet('counted', A('::1'), { data: 'hits' }),
        inSet('marks', 1, { data: 0x400 }),
      ];
      await nft.commit([...PREPARED, ...elements.map(add)]);
      const listed = (await Promise.all(SETS.map(({ name }) => nft.elements({ ...T, set: name })))).flat();
      assert.deepEqual(listed.map(text).toSorted(), elements.map(text).toSorted());
      for (const each of elements)
        assert.equal(text((await nft.findElement(each)) ?? assert.fail()), text(each));
      assert.equal(await nft.findElement(inSet('ports', [A('10.0.0.1'), 'tcp', 1])), undefined);
      const published = listed.find(({ comment }) => comment === 'pod one');
      assert.deepEqual(published?.counter, { packets: 0n, bytes: 0n });
      await nft.commit(listed.map(delete_));
      for (const { name } of SETS) assert.deepEqual(await nft.elements({ ...T, set: name }), []);
    },
  },
  {
    name: 'an element that is there may be added again, but not made, nor with another value',
    async run({ host: { nft } }) {
      const one = inSet('ports', [A('10.0.0.1'), 'tcp', 1], { data: [A('10.1.0.2'), 80] });
      await nft.commit([...PREPARED, add(one)]);
      await nft.commit([add(one)]);
      await refused(nft.commit([create(one)]), 'EEXIST');
      await refused(nft.commit([add({ ...one, data: [A('10.1.0.2'), 81] })]), 'EEXIST');
      await nft.commit([delete_(one), create({ ...one, data: [A('10.1.0.2'), 81] })]);
      await nft.commit([delete_(one)]);
      await refused(nft.commit([delete_(one)]), 'ENOENT');
      await refused(nft.commit([add(inSet('none', 1))]), 'ENOENT');
      await refused(nft.commit([add(inSet('counted', A('::2'), { data: 'none' }))]), 'ENOENT');
      await refused(
        nft.commit([add(inSet('policy', [A('1.1.1.1'), A('1.1.1.1')], { data: jump('none') }))]),
        'ENOENT',
      );
    },
  },
  {
    name: 'of many elements, the one that is refused is named',
    async run({ host: { nft } }) {
      const at = (n: number) => inSet('nets6', P(`fd00:${n.toString(16)}::/32`));
      await nft.commit([...PREPARED, add(at(70))]);
      const many = Array.from({ length: 100 }, (_, n) => create(at(n)));
      await assert.rejects(nft.commit(many), /: create element fd00:46::\/32 to set inet hd nets6: EEXIST/);
      await assert.rejects(
        nft.commit([delete_(at(70)), delete_(at(71))]),
        /: delete element fd00:47::\/32 from/,
      );
      assert.equal((await nft.elements({ ...T, set: 'nets6' })).length, 1);
    },
  },
  {
    name: 'intervals may touch but not overlap',
    async run({ host: { nft } }) {
      await nft.commit([...PREPARED, add(inSet('nets4', P('10.0.0.0/16')))]);
      await nft.commit([add(inSet('nets4', P('10.1.0.0/16')))]);
      for (const prefix of ['10.0.0.0/8', '10.0.5.0/24', '10.0.255.0/24']) {
        await refused(nft.commit([create(inSet('nets4', P(prefix)))]), 'EEXIST');
      }
      await refused(
        nft.commit([create(inSet('nets4', { from: A('9.0.0.0'), to: A('10.0.0.0') }))]),
        'EEXIST',
      );
      await refused(nft.commit([delete_(inSet('nets4', P('10.0.0.0/24')))]), 'ENOENT');
      const data = accept();
      await nft.commit([add(inSet('policy', [P('10.0.0.0/8'), P('10.0.0.0/8')], { data }))]);
      await nft.commit([add(inSet('policy', [P('10.0.0.0/8'), P('11.0.0.0/8')], { data }))]);
      await refused(
        nft.commit([create(inSet('policy', [P('10.1.0.0/16'), P('10.0.0.0/8')], { data }))]),
        'EEXIST',
      );
      await refused(
        nft.commit([create(inSet('policy', [P('10.0.0.0/8'), P('10.0.0.0/8')], { data }))]),
        'EEXIST',
      );
      await nft.commit([delete_(inSet('policy', [P('10.0.0.0/8'), P('10.0.0.0/8')]))]);
    },
  },
  {
    name: 'among pairs of intervals, a key stands for the element that it lies in',
    async run({ host: { nft } }) {
      const wide = inSet('policy', [P('10.0.0.0/8'), P('10.0.0.0/8')], { data: drop() });
      await nft.commit([...PREPARED, add(wide)]);
      await refused(nft.commit([delete_(inSet('policy', [P('11.0.0.0/8'), P('10.0.0.0/8')]))]), 'ENOENT');
      await nft.commit([delete_(inSet('policy', [A('10.0.0.1'), P('10.1.0.0/16')]))]);
      assert.deepEqual(await nft.elements({ ...T, set: 'policy' }), []);
    },
  },
  {
    name: 'a set has room for so many; a flush empties it',
    async run({ host: { nft } }) {
      await nft.commit([...PREPARED, ...[1, 2].map((key) => add(inSet('marks', key, { data: key })))]);
      await refused(nft.commit([add(inSet('marks', 3, { data: 3 }))]), 'ENFILE');
      await nft.commit([flush(MARKS), ...[3, 4].map((key) => add(inSet('marks', key, { data: key })))]);
      assert.deepEqual((await nft.elements({ ...T, set: 'marks' })).map(({ key }) => key).toSorted(), [3, 4]);
    },
  },
  {
    name: 'what elements lead to stays as long as they do',
    async run({ host: { nft } }) {
      const to = inSet('policy', [A('1.1.1.1'), A('1.1.1.1')], { data: jump('d') });
      const hit = inSet('counted', A('::1'), { data: 'hits' });
      await nft.commit([...PREPARED, add(to), add(hit)]);
      await refused(nft.commit([delete_(chain({ ...T, name: 'd' }))]), 'EBUSY');
      await refused(nft.commit([delete_(HITS)]), 'EBUSY');
      await nft.commit([delete_(to), delete_(chain({ ...T, name: 'd' })), delete_(hit), delete_(HITS)]);
    },
  },
  {
    name: 'what is destroyed need not be there',
    async run({ host: { nft } }) {
      await nft.commit([destroy(TABLE), destroy(inSet('ports', [A('1.2.3.4'), 'tcp', 1]))]);
      await nft.commit([...PREPARED, add(inSet('nets6', P('fd00::/8')))]);
      await nft.commit([
        ...[P('fd00::/16'), P('fd00::/8')].map((key) => destroy(inSet('nets6', key))),
        destroy(inSet('ports', [A('1.2.3.4'), 'tcp', 1])),
        destroy(POLICY),
        destroy({ ...POLICY, name: 'none' }),
        destroy(HITS),
      ]);
      assert.deepEqual(await nft.elements({ ...T, set: 'nets6' }), []);
      assert.ok(!(await nft.sets(T)).some(({ name }) => name === 'policy'));
    },
  },
  {
    name: 'a thousand elements are made, listed and deleted',
    async run({ host: { nft } }) {
      const elements = Array.from({ length: 1000 }, (_, n) =>
        inSet('ports', [A('10.0.0.1'), n % 2 === 0 ? 'tcp' : 'udp', 1 + n], {
          data: [A('10.1.0.2'), n],
          comment: `pod ${n}`,
        }),
      );
      await nft.commit([...PREPARED, ...elements.map(create)]);
      const listed = await nft.elements({ ...T, set: 'ports' });
      assert.deepEqual(listed.map(text).toSorted(), elements.map(text).toSorted());
      await nft.commit(elements.map(delete_));
      assert.deepEqual(await nft.elements({ ...T, set: 'ports' }), []);
    },
  },
];
