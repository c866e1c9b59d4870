import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { MemoryDatabase, openMemory } from '@heddle/store/testing';
import {
  allocateAddresses,
  blocksWithin,
  claimSubnets,
  inspectStore,
  type Member,
  NodeBlocks,
  putPool,
  putSettings,
  releaseHandle,
  releaseIdleBlocks,
  resolvePool,
  retakeAddresses,
} from './index.ts';

/** Two nodes of a cluster whose nodes have subnets. */
async function cluster() {
  const store = openMemory(new MemoryDatabase());
  await putPool(store, { name: 'four', cidr: Prefix.parse('10.244.0.0/16') });
  await putPool(store, { name: 'six', cidr: Prefix.parse('fd00::/48') });
  await putSettings(store, { mode: 'node-subnets', coolDownSeconds: 0 });
  const time = { now: 1_000_000 };
  const member = (node: string): Member => ({ store, node, labels: {}, now: () => time.now });
  return { store, time, one: member('n1'), two: member('n2') };
}

const prefixes = (...texts: readonly string[]) => texts.map((text) => Prefix.parse(text));

test('the blocks of a subnet', () => {
  const pool = (cidr: string, blockSize?: number) =>
    resolvePool({ name: 'p', cidr: Prefix.parse(cidr), ...(blockSize !== undefined && { blockSize }) });
  const of = (subnet: string, ...rest: Parameters<typeof pool>) =>
    blocksWithin(pool(...rest), Prefix.parse(subnet)).map(String);
  assert.deepEqual(of('10.244.1.0/24', '10.244.0.0/16'), [
    '10.244.1.0/26',
    '10.244.1.64/26',
    '10.244.1.128/26',
    '10.244.1.192/26',
  ]);
  assert.deepEqual(of('10.244.1.64/26', '10.244.0.0/16'), ['10.244.1.64/26']);
  assert.deepEqual(of('10.244.1.0/24', '10.244.0.0/16', 24), ['10.244.1.0/24']);
  assert.equal(of('10.244.16.0/20', '10.244.0.0/16').length, 64);
  // More than anybody has pods for.
  assert.equal(of('10.244.0.0/16', '10.244.0.0/16').length, 16);
  assert.deepEqual(of('fd00:0:0:7::/64', 'fd00::/48').slice(0, 2), [
    'fd00:0:0:7::/122',
    'fd00:0:0:7::40/122',
  ]);
  assert.equal(of('fd00:0:0:7::/64', 'fd00::/48').length, 16);
});

for (const [what, subnet, message] of [
  [
    'a subnet that is smaller than a block',
    '10.244.1.0/27',
    /smaller than a block of pool p, which is a \/26/,
  ],
  ['a subnet of another range', '10.245.1.0/24', /not within 10\.244\.0\.0\/16 of pool p/],
  ['a subnet that is larger than the pool', '10.244.0.0/15', /not within 10\.244\.0\.0\/16 of pool p/],
] as const) {
  test(`${what} is refused`, () => {
    const pool = resolvePool({ name: 'p', cidr: Prefix.parse('10.244.0.0/16') });
    assert.throws(() => blocksWithin(pool, Prefix.parse(subnet)), { code: 'IPAM_POOL_INVALID', message });
  });
}

test('a node gives addresses of its subnets, keeps them when they are idle, and claims no others', async () => {
  const { store, time, one, two } = await cluster();
  const subnets = prefixes('10.244.1.0/26', 'fd00:0:0:1::/64');
  await claimSubnets(one, subnets);
  assert.equal((await claimSubnets(one, subnets)).length, 17);
  const blocks = new NodeBlocks(one);
  const taken = await Promise.all(
    Array.from({ length: 64 }, (_, index) => blocks.take({ handle: `h${index}`, families: [4] })),
  );
  assert.ok(taken.flat().every(({ address }) => subnets[0]?.contains(address.addr)));
  await assert.rejects(blocks.take({ handle: 'more', families: [4] }), {
    code: 'POOL_EXHAUSTED',
    hint: /heddle up --subnet/,
  });
  await assert.rejects(allocateAddresses(two, { handle: 'x', families: [4] }), { code: 'POOL_EXHAUSTED' });
  await assert.rejects(
    allocateAddresses(one, { handle: 'x', addresses: [Addr.parse('10.244.7.7')], families: [4] }),
    { code: 'IPAM_ADDRESS_UNAVAILABLE', message: /its block 10\.244\.7\.0\/26 is in no subnet of node n1/ },
  );
  for (let index = 0; index < 64; index++) await blocks.give(`h${index}`);
  time.now += 1_000_000;
  assert.equal(await releaseIdleBlocks(one, { keep: 0 }), 0);
  assert.deepEqual((await inspectStore(store)).problems, []);
});

test('one subnet is one node’s', async () => {
  const { one, two } = await cluster();
  await claimSubnets(one, prefixes('10.244.1.0/24'));
  await assert.rejects(claimSubnets(two, prefixes('10.244.1.128/25')), {
    code: 'IPAM_ADDRESS_UNAVAILABLE',
    message: 'subnet 10.244.1.128/25: its block 10.244.1.128/26 belongs to n1',
  });
  await assert.rejects(claimSubnets(two, prefixes('192.168.0.0/24')), { code: 'IPAM_POOL_INVALID' });
});

test('several addresses of one block under one handle are given back together', async () => {
  const { store, one } = await cluster();
  const addresses = ['10.244.1.0', '10.244.1.1', 'fd00:0:0:1::'].map((text) => Addr.parse(text));
  for (const give of [
    (handle: string) => releaseHandle(one, handle),
    (handle: string) => new NodeBlocks(one).give(handle),
  ]) {
    const { taken } = await retakeAddresses(one, { handle: 'former.n1', addresses });
    assert.equal(taken.length, 3);
    assert.deepEqual(await give('former.n1'), addresses);
    const { handles, problems } = await inspectStore(store);
    assert.deepEqual([handles, problems], [[], []]);
  }
});
