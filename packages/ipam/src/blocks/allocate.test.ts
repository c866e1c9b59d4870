import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Addr, AddrRange, Prefix } from '@heddle/netaddr';
import { put, type Store } from '@heddle/store';
import { memoryStore } from '@heddle/store/testing';
import { allocateAddresses, type BlockRequest } from './allocate.ts';
import { putPool, putSettings } from './configure.ts';
import { releaseHandle } from './give-back.ts';
import { inspectStore } from './inspect.ts';
import type { Member } from './member.ts';
import { KEYS } from './records.ts';

let store: Store;
let now = 0;
beforeEach(() => {
  store = memoryStore();
  now = 1_000_000;
});
const on = (node: string, more: Partial<Member> = {}): Member => ({ store, node, now: () => now, ...more });
const take = async (member: Member, handle: string, more: Partial<BlockRequest> = {}) =>
  (await allocateAddresses(member, { handle, families: [4], ...more })).map(({ address }) => String(address));
const pool = (name: string, cidr: string, more: object = {}) =>
  putPool(store, { name, cidr: Prefix.parse(cidr), ...more });
const ownersOfBlocks = async () => {
  const { pools, problems } = await inspectStore(store);
  assert.deepEqual(problems, []);
  return pools.flatMap(({ blocks }) => blocks.map(({ cidr, node }) => `${cidr} ${node}`));
};

test('addresses come from the node’s own block, one after the other', async () => {
  await pool('p', '10.0.0.0/24');
  const [first] = await allocateAddresses(on('n1'), { handle: 'h0', families: [4] });
  assert.ok(first?.address.isSingle && first.block.contains(first.address.addr));
  const all = [String(first.address)];
  for (let n = 1; n < 64; n++) all.push(...(await take(on('n1'), `h${n}`)));
  assert.equal(new Set(all).size, 64);
  assert.ok(all.every((text) => first.block.contains(Prefix.parse(text).addr)));
  assert.equal((await ownersOfBlocks()).length, 1);
  await take(on('n1'), 'one-more');
  await take(on('n2'), 'other');
  assert.deepEqual((await ownersOfBlocks()).map((line) => line.split(' ')[1]).sort(), ['n1', 'n1', 'n2']);
});

test('a node of which two tasks claim one block at once keeps it', async () => {
  await pool('p', '10.0.0.0/24');
  const request = (addr: string) => ({ addresses: [Addr.parse(addr)] });
  const affinity = KEYS.affinity('n1', Prefix.parse('10.0.0.0/26'));
  let isFirst = true;
  const slow: Store = {
    ...store,
    async get(key) {
      // The other one is done between two looks of this one: it has seen no block, and sees its own claim made good.
      if (key === affinity && isFirst) {
        isFirst = false;
        await take(on('n1'), 'other', request('10.0.0.1'));
      }
      return store.get(key);
    },
  };
  assert.deepEqual(await take(on('n1', { store: slow }), 'one', request('10.0.0.2')), ['10.0.0.2/32']);
  assert.deepEqual(await ownersOfBlocks(), ['10.0.0.0/26 n1']);
});

test('both families, or neither', async () => {
  await pool('four', '10.0.0.0/26');
  const both = { families: [4, 6] as const };
  await assert.rejects(take(on('n1'), 'h', both), { code: 'IPAM_NO_POOL', message: /no pool of IPv6/ });
  await pool('six', 'fd00::/122');
  const taken = await take(on('n1'), 'h', both);
  assert.match(taken[0] ?? '', /^10\.0\.0\.\d+\/32$/);
  assert.match(taken[1] ?? '', /^fd00::[\da-f]*\/128$/);
  for (let n = 0; n < 63; n++) await take(on('n1'), `six${n}`, { families: [6] });
  await assert.rejects(take(on('n1'), 'half', both), { code: 'POOL_EXHAUSTED' });
  const { pools } = await inspectStore(store);
  assert.deepEqual(
    pools.map(({ held }) => held),
    [1, 64],
    'nothing of IPv4 was kept',
  );
  assert.equal((await releaseHandle(on('n1'), 'h')).length, 2);
});

test('whoever asks again gets the same; whoever asks for something else is told', async () => {
  await pool('p', '10.0.0.0/24');
  const first = await take(on('n1'), 'h');
  assert.deepEqual(await take(on('n1'), 'h'), first);
  await assert.rejects(take(on('n1'), 'h', { families: [6] }), { code: 'IPAM_DUPLICATE' });
  const other = { addresses: [Addr.parse('10.0.0.77')] };
  await assert.rejects(take(on('n1'), 'h', other), { code: 'IPAM_DUPLICATE' });
});

test('an address rests before it is given again, and fresh ones go first', async () => {
  await pool('p', '10.0.0.0/30', { blockSize: 30 });
  await putSettings(store, { coolDownSeconds: 60 });
  const member = on('n1');
  const [first] = await take(member, 'a');
  await releaseHandle(member, 'a');
  now += 1000;
  for (const handle of ['b', 'c', 'd']) assert.notEqual((await take(member, handle))[0], first);
  await assert.rejects(take(member, 'e'), { code: 'POOL_EXHAUSTED', message: /no block is free/ });
  await assert.rejects(take(member, 'e', { addresses: [Prefix.parse(first ?? '').addr] }), {
    code: 'IPAM_ADDRESS_UNAVAILABLE',
    message: /given back less than 60 seconds ago/,
  });
  now += 59_000;
  assert.deepEqual(await take(member, 'e'), [first]);
});

test('a clock that was set back makes nobody wait', async () => {
  await pool('p', '10.0.0.0/32', { blockSize: 32 });
  await take(on('n1'), 'a');
  await releaseHandle(on('n1'), 'a');
  now -= 500_000;
  assert.equal((await take(on('n1'), 'b')).length, 1);
});

test('a late release does not hit the successor', async () => {
  await pool('p', '10.0.0.0/32', { blockSize: 32 });
  await putSettings(store, { coolDownSeconds: 0 });
  const member = on('n1');
  const [first] = await allocateAddresses(member, { handle: 'h', families: [4] });
  await releaseHandle(member, 'h');
  const [second] = await allocateAddresses(member, { handle: 'h', families: [4] });
  assert.ok(first !== undefined && second !== undefined && second.sequence > first.sequence);
  assert.deepEqual(await releaseHandle(member, 'h', { upTo: first.sequence }), []);
  assert.equal((await inspectStore(store)).pools[0]?.held, 1);
  assert.equal((await releaseHandle(member, 'h', { upTo: second.sequence })).length, 1);
  assert.deepEqual(await releaseHandle(member, 'h'), [], 'twice is once');
});

test('when there are no blocks left, addresses are borrowed, unless affinity is strict', async () => {
  await pool('p', '10.0.0.0/30', { blockSize: 31 });
  await take(on('n1'), 'a');
  await take(on('n2'), 'b');
  await putSettings(store, { strictAffinity: true });
  await assert.rejects(take(on('n3'), 'c'), { code: 'POOL_EXHAUSTED' });
  await putSettings(store, { strictAffinity: false });
  await take(on('n3'), 'c');
  const { pools, problems } = await inspectStore(store);
  assert.deepEqual(problems, []);
  assert.equal(
    pools[0]?.blocks.reduce((sum, { borrowed }) => sum + borrowed, 0),
    1,
  );
  await releaseHandle(on('n3'), 'c');
  assert.equal((await inspectStore(store)).pools[0]?.held, 2);
});

test('a block that another node has not used for a minute is taken over', async () => {
  await pool('p', '10.0.0.0/31', { blockSize: 31 });
  await putSettings(store, { coolDownSeconds: 0, strictAffinity: true });
  await take(on('n1'), 'a');
  await releaseHandle(on('n1'), 'a');
  now += 59_000;
  await assert.rejects(take(on('n2'), 'b'), { code: 'POOL_EXHAUSTED' });
  now += 1000;
  await take(on('n2'), 'b');
  assert.deepEqual(await ownersOfBlocks(), ['10.0.0.0/31 n2']);
});

test('a node has no more blocks than it may, and borrows', async () => {
  await pool('p', '10.0.0.0/28', { blockSize: 31 });
  await putSettings(store, { maxBlocksPerNode: 2, strictAffinity: true });
  for (const handle of ['a', 'b', 'c', 'd']) await take(on('n1'), handle);
  const refused = { code: 'POOL_EXHAUSTED', message: /n1 has 2 blocks, which is as many as it may have/ };
  await assert.rejects(take(on('n1'), 'e'), refused);
});

test('addresses and pools that are asked for', async () => {
  const reserved = [AddrRange.of(Addr.parse('10.0.0.0'), Addr.parse('10.0.0.9'))];
  await pool('p', '10.0.0.0/24', { reserved });
  await pool('q', '10.1.0.0/24');
  const asking = (text: string) => ({ addresses: [Addr.parse(text)] });
  assert.deepEqual(await take(on('n1'), 'a', asking('10.0.0.77')), ['10.0.0.77/32']);
  const unavailable = (message: RegExp) => ({ code: 'IPAM_ADDRESS_UNAVAILABLE', message });
  await assert.rejects(take(on('n2'), 'b', asking('10.0.0.77')), unavailable(/held by a on n1/));
  await assert.rejects(take(on('n2'), 'b', asking('10.0.0.5')), unavailable(/reserved in pool p/));
  const unmet = { code: 'IPAM_REQUEST_UNMET' };
  await assert.rejects(take(on('n2'), 'b', asking('192.0.2.1')), unmet);
  await assert.rejects(take(on('n2'), 'b', asking('fd00::1')), unmet);
  const two = { addresses: [Addr.parse('10.0.0.78'), Addr.parse('10.0.0.79')] };
  await assert.rejects(take(on('n2'), 'b', two), unmet);
  assert.match((await take(on('n2'), 'b', { pools: ['q'] }))[0] ?? '', /^10\.1\./);
  await assert.rejects(take(on('n2'), 'c', { pools: ['r'] }), {
    code: 'IPAM_NO_POOL',
    message: /is enabled for node n2 among r/,
  });
  await putSettings(store, { strictAffinity: true });
  await assert.rejects(
    take(on('n2'), 'c', asking('10.0.0.78')),
    unavailable(/belongs to n1, and affinity is strict/),
  );
  for (let n = 0; n < 54; n++) {
    const [given] = await take(on('n3'), `n3-${n}`, { pools: ['p'] });
    assert.ok(!reserved[0]?.contains(Prefix.parse(given ?? '').addr));
  }
});

test('pools are for the nodes that they select, while they are enabled; a new one is used at once', async () => {
  await pool('a', '10.0.0.0/26', { nodeSelector: "zone == 'a'" });
  await assert.rejects(take(on('n1', { labels: { zone: 'b' } }), 'x'), { code: 'IPAM_NO_POOL' });
  const member = on('n2', { labels: { zone: 'a' } });
  for (let n = 0; n < 64; n++) await take(member, `h${n}`);
  await assert.rejects(take(member, 'more'), { code: 'POOL_EXHAUSTED' });
  await pool('b', '10.9.0.0/26');
  assert.match((await take(member, 'more'))[0] ?? '', /^10\.9\./);
  await pool('b', '10.9.0.0/26', { disabled: true });
  await assert.rejects(take(member, 'again'), { code: 'POOL_EXHAUSTED' });
  assert.equal((await releaseHandle(member, 'more')).length, 1);
});

test('a node that was taken for dead may give back, but not take', async () => {
  await pool('p', '10.0.0.0/24');
  const key = '/heddle/nodes/n1';
  const revision = await put(store, key, '');
  const member = on('n1', { presence: { key, revision } });
  await take(member, 'a');
  await store.commit({ changes: [{ delete: key }] });
  await assert.rejects(take(member, 'b'), { code: 'IPAM_NODE_LOST', message: /node n1 is not a member/ });
  await put(store, key, '');
  await assert.rejects(take(member, 'b'), { code: 'IPAM_NODE_LOST' });
  assert.equal((await releaseHandle(member, 'a')).length, 1);
});

test('what somebody else wrote into the store is told of, by its key', async () => {
  await put(store, '/heddle/ipam/pools/p', '{"name": "p"}');
  await assert.rejects(take(on('n1'), 'a'), {
    code: 'STORE_VALUE_INVALID',
    message: /^\/heddle\/ipam\/pools\/p: not a pool: cidr: /,
  });
});
