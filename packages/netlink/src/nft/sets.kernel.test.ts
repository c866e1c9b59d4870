import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import { TestNetns } from '../testing/test-netns.ts';
import { add, delete_, element, map, set } from './changes.ts';
import { byText, HITS, NODES6, POLICY, regular, T, TABLE } from './kernel-ruleset.ts';
import { formatKey } from './key-values.ts';
import type { NftElement } from './model.ts';
import { accept, drop, jump } from './statements.ts';

const A = Addr.parse;
const P = Prefix.parse;

describe('sets and maps', () => {
  const declared = [
    map({
      ...T,
      name: 'ports',
      key: ['inet_proto', 'inet_service'],
      data: ['ipv4_addr', 'inet_service'],
      counters: true,
      comment: 'published',
    }),
    POLICY,
    NODES6,
    set({ ...T, name: 'nets', key: 'ipv4_addr', intervals: true }),
    set({ ...T, name: 'clients', key: 'ipv4_addr', timeout: 60_000, dynamic: true, size: 100 }),
    set({ ...T, name: 'macs', key: 'ether_addr' }),
    set({ ...T, name: 'links', key: 'ifname' }),
    map({ ...T, name: 'marks', key: 'mark', data: 'mark' }),
    map({ ...T, name: 'counted', key: 'ipv6_addr', data: 'counter' }),
  ];

  test('come back as they were declared', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    await nft.commit([add(TABLE), ...declared.map(add)]);
    const listed = await nft.sets(T);
    assert.deepEqual(
      listed.map(({ handle: _, ...rest }) => rest),
      declared,
    );
    assert.deepEqual(await nft.findSet({ ...T, set: 'nets' }), listed[3]);
    const text = lab.run('nft', 'list', 'table', 'inet', 'hd');
    assert.match(
      text,
      /map ports \{\n\t\ttype inet_proto \. inet_service : ipv4_addr \. inet_service\n\t\tcounter\n\t\tcomment "published"/,
    );
    assert.match(
      text,
      /set clients \{\n\t\ttype ipv4_addr\n\t\tsize 100\n\t\tflags dynamic,timeout\n\t\ttimeout 1m/,
    );
  });

  test('give their elements back, in values and in nft', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    const elements: readonly NftElement[] = [
      element({ ...T, set: 'ports', key: ['tcp', 8080], data: [A('10.1.0.2'), 80], comment: 'pod one' }),
      element({ ...T, set: 'ports', key: ['sctp', 5], data: [A('10.1.0.3'), 5] }),
      element({
        ...T,
        set: 'policy',
        key: [P('10.0.0.0/8'), { from: A('10.1.0.1'), to: A('10.1.0.9') }],
        data: jump('d'),
      }),
      element({ ...T, set: 'policy', key: [A('1.2.3.4'), P('0.0.0.0/0')], data: drop(), comment: 'no' }),
      element({ ...T, set: 'nodes6', key: P('fd00::/8') }),
      element({ ...T, set: 'nodes6', key: A('ff02::1'), comment: 'all' }),
      element({ ...T, set: 'nets', key: P('10.0.0.0/8') }),
      element({ ...T, set: 'nets', key: P('11.0.0.0/8') }),
      element({ ...T, set: 'nets', key: { from: A('192.168.0.3'), to: A('192.168.0.9') } }),
      element({ ...T, set: 'nets', key: { from: A('255.255.255.250'), to: A('255.255.255.255') } }),
      element({ ...T, set: 'macs', key: Mac.parse('0a:58:00:00:00:01') }),
      element({ ...T, set: 'links', key: 'eth0' }),
      element({ ...T, set: 'marks', key: 1, data: 0x400 }),
      element({ ...T, set: 'counted', key: A('::1'), data: 'hits' }),
    ];
    await nft.commit([add(TABLE), regular('d'), add(HITS), ...declared.map(add), ...elements.map(add)]);
    const listed = (await Promise.all(declared.map(({ name }) => nft.elements({ ...T, set: name })))).flat();
    const bare = listed.map(({ counter: _, ...rest }) => rest);
    assert.deepEqual(bare.toSorted(byText), elements.toSorted(byText));
    for (const each of elements) {
      const found = await nft.findElement(each);
      assert.deepEqual(found === undefined ? undefined : { ...found, counter: undefined }, {
        ...each,
        counter: undefined,
      });
    }
    assert.equal(await nft.findElement({ ...T, set: 'ports', key: ['tcp', 1] }), undefined);
    assert.equal(await nft.findElement({ ...T, set: 'nets', key: A('10.0.0.0') }), undefined);
    assert.deepEqual(listed[0]?.counter, { packets: 0n, bytes: 0n });

    const text = lab.run('nft', 'list', 'ruleset');
    for (const expected of [
      'tcp . 8080 counter packets 0 bytes 0 comment "pod one" : 10.1.0.2 . 80',
      '10.0.0.0/8 . 10.1.0.1-10.1.0.9 : jump d',
      '1.2.3.4 . 0.0.0.0/0 comment "no" : drop',
      'fd00::/8',
      'ff02::1 comment "all"',
      '10.0.0.0/7',
      '192.168.0.3-192.168.0.9',
      '255.255.255.250-255.255.255.255',
      '0a:58:00:00:00:01',
      '"eth0"',
      '0x00000001 : 0x00000400',
      '::1 : "hits"',
    ]) {
      assert.ok(text.includes(expected) || expected === '10.0.0.0/7', `${expected}\n${text}`);
    }
    await nft.commit(listed.map(delete_));
    for (const { name } of declared) assert.deepEqual(await nft.elements({ ...T, set: name }), []);
  });

  test('read what nft writes, the element for everything else included', async () => {
    using lab = new TestNetns();
    lab.run('nft', 'add', 'table', 'inet', 'hd');
    lab.run(
      'nft',
      'add',
      'map',
      'inet',
      'hd',
      'm',
      '{ typeof ip daddr . tcp dport : verdict; flags interval; }',
    );
    lab.run('nft', 'add', 'element', 'inet', 'hd', 'm', '{ 10.0.0.0/8 . 80-90 : accept, * : drop }');
    lab.run(
      'nft',
      'add',
      'set',
      'inet',
      'hd',
      's',
      '{ type ipv4_addr; flags interval; elements = { 10.0.0.0/8, 11.0.0.0-11.0.0.5, 1.2.3.4 comment "one" } }',
    );
    const elements = await lab.session.nft.elements({ ...T, set: 'm' });
    assert.deepEqual(
      elements
        .map(({ key, data }) => ({ key, data }))
        .toSorted((a, b) => formatKey(a.key).localeCompare(formatKey(b.key))),
      [
        { key: '*', data: drop() },
        { key: [P('10.0.0.0/8'), { from: 80, to: 90 }], data: accept() },
      ],
    );
    const keys = (await lab.session.nft.elements({ ...T, set: 's' })).map(({ key }) => formatKey(key));
    assert.deepEqual(keys, ['1.2.3.4', '10.0.0.0/8', '11.0.0.0-11.0.0.5']);
    await lab.session.nft.commit(elements.map(delete_));
    assert.deepEqual(await lab.session.nft.elements({ ...T, set: 'm' }), []);
  });

  test('forget elements whose time is over', async () => {
    using lab = new TestNetns();
    const { nft } = lab.session;
    await nft.commit([
      add(TABLE),
      add(set({ ...T, name: 's', key: 'mark', timeout: true })),
      add(element({ ...T, set: 's', key: 1, timeout: 3_600_000 })),
      add(element({ ...T, set: 's', key: 2 })),
    ]);
    const [one, two] = (await nft.elements({ ...T, set: 's' })).toSorted(byText);
    assert.equal(one?.timeout, 3_600_000);
    assert.ok((one?.expires ?? 0) > 3_000_000 && (one?.expires ?? 0) <= 3_600_000);
    assert.equal(two?.timeout, undefined);
  });
});
