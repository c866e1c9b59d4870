import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { allocate } from './allocate.ts';
import { PoolExhaustedError } from './ipam-error.ts';
import { type RangeSet, resolveRangeSets } from './range-set.ts';
import { heldBy, release, releaseStale } from './release.ts';
import type { ReservationStore } from './store.ts';
import { memoryStore } from './testing/index.ts';
import { measure } from './usage.ts';

const eth0 = (containerID: string) => ({ containerID, ifName: 'eth0' });

function rangeSets(...sets: readonly (readonly string[])[]): readonly RangeSet[] {
  return resolveRangeSets(sets.map((subnets) => subnets.map((subnet) => ({ subnet: Prefix.parse(subnet) }))));
}

async function hold(store: ReservationStore, addrs: readonly string[], last?: string): Promise<void> {
  await store.exclusive((ledger) => {
    for (const text of addrs) ledger.reserve(Addr.parse(text), eth0('other'));
    if (last !== undefined) ledger.remember(0, Addr.parse(last));
  });
}

async function take(store: ReservationStore, sets: readonly RangeSet[], id = 'c1', ...requested: string[]) {
  const wanted = requested.map((text) => Addr.parse(text));
  const allocations = await allocate(store, { rangeSets: sets, owner: eth0(id), requested: wanted });
  return allocations.map(({ address }) => address.toString());
}

describe('the order of a range set', () => {
  const rows: readonly [
    subnets: readonly string[],
    held: readonly string[],
    last: string | undefined,
    next: string,
  ][] = [
    [['10.0.0.0/29'], [], undefined, '10.0.0.2/29'],
    [['10.0.0.0/29'], [], '10.0.0.5', '10.0.0.6/29'],
    [['10.0.0.0/29'], ['10.0.0.6'], '10.0.0.5', '10.0.0.2/29'],
    [['10.0.0.0/29'], ['10.0.0.2', '10.0.0.4', '10.0.0.5', '10.0.0.6'], '10.0.0.3', '10.0.0.3/29'],
    [['10.0.0.0/29'], [], '10.0.0.128', '10.0.0.2/29'],
    [['10.0.0.0/29'], ['10.0.0.2', '10.0.0.4', '10.0.0.5'], '10.0.0.3', '10.0.0.6/29'],
    [['10.0.0.0/30', '10.0.1.0/30'], [], undefined, '10.0.0.2/30'],
    [['10.0.0.0/30', '10.0.1.0/30'], [], '10.0.0.2', '10.0.1.2/30'],
    [['10.0.0.0/30', '10.0.1.0/30', '10.0.2.0/30'], [], '10.0.2.2', '10.0.0.2/30'],
    [['10.0.0.0/30', '10.0.1.0/30', '10.0.2.0/30'], ['10.0.2.2', '10.0.0.2'], '10.0.1.2', '10.0.1.2/30'],
    [['2001:db8:1::/64'], [], undefined, '2001:db8:1::2/64'],
    [['2001:db8:1::/64'], ['2001:db8:1::3'], '2001:db8:1::2', '2001:db8:1::4/64'],
    [['192.0.2.0/31'], [], undefined, '192.0.2.1/31'],
    [['192.0.2.9/32'], [], undefined, '192.0.2.9/32'],
    [['2001:db8::/127'], [], undefined, '2001:db8::1/127'],
    [['2001:db8::9/128'], [], undefined, '2001:db8::9/128'],
  ];
  for (const [subnets, held, last, next] of rows) {
    test(`${subnets.join()} holding ${held.join() || 'none'}, last ${last ?? 'none'}: ${next}`, async () => {
      const store = memoryStore();
      await hold(store, held, last);
      assert.deepEqual(await take(store, rangeSets(subnets)), [next]);
    });
  }

  test('an address that was given back is not the next one given', async () => {
    const store = memoryStore();
    const sets = rangeSets(['10.0.0.0/29']);
    assert.deepEqual(await take(store, sets), ['10.0.0.2/29']);
    await release(store, eth0('c1'));
    assert.deepEqual(await take(store, sets), ['10.0.0.3/29']);
  });

  test('the broadcast, network and gateway addresses are never given', async () => {
    const store = memoryStore();
    const sets = rangeSets(['192.0.2.0/28']);
    const given = new Set<string>();
    for (let i = 0; i < 13; i++) given.add((await take(store, sets, `c${i}`))[0] ?? '');
    const hosts = Array.from({ length: 13 }, (_, i) => `192.0.2.${i + 2}/28`);
    assert.deepEqual([...given].sort(), hosts.sort());
    await assert.rejects(take(store, sets, 'one-more'), { code: 'POOL_EXHAUSTED' });
  });

  test('a /64 with thousands of neighbouring addresses taken gives the next one', async () => {
    const store = memoryStore();
    const sets = rangeSets(['2001:db8::/64']);
    const first = Addr.parse('2001:db8::2');
    await store.exclusive((ledger) => {
      for (let i = 0; i < 5000; i++) ledger.reserve(first.add(i) ?? first, eth0(`x${i}`));
    });
    assert.deepEqual(await take(store, sets), ['2001:db8::138a/64']);
  });
});

describe('an exhausted pool', () => {
  test('says which, how large and how much of it is held', async () => {
    const store = memoryStore();
    const sets = rangeSets(['192.0.2.0/30', '198.51.100.0/30']);
    await hold(store, ['192.0.2.2', '198.51.100.2']);
    await assert.rejects(take(store, sets), (error) => {
      assert.ok(error instanceof PoolExhaustedError);
      assert.equal(
        error.message,
        'no IP addresses available in range set: 192.0.2.1-192.0.2.2,198.51.100.1-198.51.100.2: 2 of 2 in use',
      );
      assert.deepEqual(error.usage, { size: 2n, used: 2n, free: 0n });
      return true;
    });
  });

  test('of one family leaves nothing held of the other', async () => {
    const store = memoryStore();
    const sets = rangeSets(['10.0.0.0/24'], ['2001:db8::/126']);
    await hold(store, ['2001:db8::2', '2001:db8::3']);
    await assert.rejects(take(store, sets), { rangeSet: 1 });
    assert.deepEqual(heldBy(store.list(), eth0('c1')), []);
    await store.exclusive((ledger) => assert.equal(ledger.lastReserved(0), undefined));
  });

  test('is full of what it can give only: a held gateway does not count', async () => {
    const store = memoryStore();
    const [set] = rangeSets(['192.0.2.0/30']);
    assert.ok(set);
    await hold(store, ['192.0.2.1', '203.0.113.1']);
    assert.deepEqual(
      measure(
        set,
        store.list().map(({ addr }) => addr),
      ),
      { size: 1n, used: 0n, free: 1n },
    );
    assert.deepEqual(await take(store, [set]), ['192.0.2.2/30']);
  });
});

describe('requested addresses', () => {
  const sets = rangeSets(['10.0.0.0/29', '10.0.1.0/29'], ['2001:db8::/64']);

  test('are given, one of each set, in any order', async () => {
    assert.deepEqual(await take(memoryStore(), sets, 'c1', '2001:db8::99', '10.0.1.5'), [
      '10.0.1.5/29',
      '2001:db8::99/64',
    ]);
  });

  test('for one set leave the other to choose', async () => {
    assert.deepEqual(await take(memoryStore(), sets, 'c1', '10.0.1.5'), ['10.0.1.5/29', '2001:db8::2/64']);
  });

  test('move the place where the next search begins', async () => {
    const store = memoryStore();
    await take(store, sets, 'c1', '10.0.1.5');
    assert.equal((await take(store, sets, 'c2'))[0], '10.0.1.6/29');
  });

  test('that are asked for twice count once', async () => {
    assert.equal((await take(memoryStore(), sets, 'c1', '10.0.0.5', '10.0.0.5'))[0], '10.0.0.5/29');
  });

  const refused: readonly [requested: readonly string[], message: RegExp][] = [
    [
      ['10.0.0.4'],
      /^requested IP address 10\.0\.0\.4 is not available in range set 10\.0\.0\.1-10\.0\.0\.6,/,
    ],
    [['10.0.0.1'], /^requested ip 10\.0\.0\.1 is subnet's gateway$/],
    [['10.0.0.2', '10.0.1.2', '10.9.9.9'], /^failed to allocate all requested IPs: 10\.0\.1\.2 10\.9\.9\.9$/],
  ];
  for (const [requested, message] of refused) {
    test(`${requested.join(' and ')}: refused, and nothing is held`, async () => {
      const store = memoryStore();
      await hold(store, ['10.0.0.4']);
      await assert.rejects(take(store, sets, 'c1', ...requested), { message });
      assert.deepEqual(heldBy(store.list(), eth0('c1')), []);
    });
  }
});

describe('owners', () => {
  const sets = rangeSets(['10.0.0.0/24'], ['2001:db8::/64']);

  test('get one address per set and interface', async () => {
    const store = memoryStore();
    await take(store, sets);
    await assert.rejects(take(store, sets), {
      code: 'IPAM_DUPLICATE',
      message: '10.0.0.2 has been allocated to c1, duplicate allocation is not allowed',
    });
    await assert.rejects(take(store, sets, 'c1', '10.0.0.9'), { code: 'IPAM_DUPLICATE' });
    assert.equal(store.list().length, 2);
    await allocate(store, { rangeSets: sets, owner: { containerID: 'c1', ifName: 'eth1' } });
    assert.equal(store.list().length, 4);
    assert.deepEqual((await release(store, eth0('c1'))).map(String).sort(), ['10.0.0.2', '2001:db8::2']);
    assert.deepEqual(await take(store, sets), ['10.0.0.4/24', '2001:db8::4/64']);
  });

  test('of the oldest format are matched by container alone, but only when nothing names the interface', async () => {
    const store = memoryStore();
    await store.exclusive((ledger) => {
      ledger.reserve(Addr.parse('10.0.0.2'), { containerID: 'c1' });
      ledger.reserve(Addr.parse('10.0.0.3'), eth0('c1'));
    });
    assert.deepEqual((await release(store, eth0('c1'))).map(String), ['10.0.0.3']);
    await assert.rejects(take(store, sets), { code: 'IPAM_DUPLICATE' });
    assert.deepEqual((await release(store, eth0('c1'))).map(String), ['10.0.0.2']);
    assert.deepEqual(await release(store, eth0('c1')), []);
  });

  test('that are stale lose their addresses, unless these were taken anew meanwhile', async () => {
    const store = memoryStore();
    await take(store, sets, 'gone');
    await take(store, sets, 'back');
    const stale = store.list();
    await release(store, eth0('back'));
    await take(store, sets, 'back', '10.0.0.3', '2001:db8::3');
    assert.deepEqual((await releaseStale(store, stale)).map(String).sort(), ['10.0.0.2', '2001:db8::2']);
    assert.equal(heldBy(store.list(), eth0('back')).length, 2);
  });
});
