import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, AddrRange, Prefix } from '@heddle/netaddr';
import type { Store } from '@heddle/store';
import { memoryStore } from '@heddle/store/testing';
import { allocateAddresses } from './allocate.ts';
import { blockOrder } from './block-order.ts';
import { claimExactly } from './claim.ts';
import { neededAddresses, neededBlocks } from './cluster-pool.ts';
import { putPool, putSettings, removePool } from './configure.ts';
import { addressesPerBlock, blocksOf, checkPools, type PoolConfig, resolvePool } from './pool.ts';
import { KEYS } from './records.ts';

const pool = (cidr: string, more: Partial<PoolConfig> = {}) =>
  resolvePool({ name: 'p', cidr: Prefix.parse(cidr), ...more });
const refused = (cidr: string, more: Partial<PoolConfig>, message: RegExp) =>
  assert.throws(() => pool(cidr, more), { code: 'IPAM_POOL_INVALID', message });

test('sizes as operators know them: blocks of 64, from 20 to 32 and from 116 to 128 bits', () => {
  const rows = [
    ['10.244.0.0/16', undefined, 26, 64, 1024n],
    ['192.168.0.0/16', undefined, 26, 64, 1024n],
    ['10.0.0.0/8', 24, 24, 256, 65_536n],
    ['10.0.0.0/26', undefined, 26, 64, 1n],
    ['10.0.0.0/8', 20, 20, 4096, 4096n],
    ['10.0.0.0/30', 32, 32, 1, 4n],
    ['fd00:10:244::/48', undefined, 122, 64, 2n ** 74n],
    ['fd00::/112', 116, 116, 4096, 16n],
    ['fd00::/120', 128, 128, 1, 256n],
  ] as const;
  for (const [cidr, asked, bits, each, count] of rows) {
    const resolved = pool(cidr, asked === undefined ? {} : { blockSize: asked });
    assert.equal(resolved.blockSize, bits, cidr);
    assert.equal(addressesPerBlock(resolved), each, cidr);
    assert.equal(blocksOf(resolved), count, cidr);
  }
});

test('what a pool cannot be is said, with its name', () => {
  refused('10.0.0.0/8', { blockSize: 19 }, /^pool p: block size \/19 is not from \/20 to \/32 for IPv4/);
  refused('10.0.0.0/8', { blockSize: 33 }, /block size/);
  refused('fd00::/64', { blockSize: 115 }, /from \/116 to \/128 for IPv6/);
  refused('10.0.0.0/27', {}, /smaller than one block of \/26/);
  refused('fd00::/123', {}, /smaller than one block/);
  refused('10.0.0.1/16', {}, /host bits/);
  refused('10.0.0.0/16', { name: 'Not a label' }, /DNS label/);
  refused('127.0.0.0/16', {}, /no pod can have/);
  refused('224.0.0.0/16', {}, /no pod can have/);
  refused('169.254.0.0/16', {}, /no pod can have/);
  refused('fe80::/64', {}, /no pod can have/);
  refused('0.0.0.0/0', {}, /no pod can have/);
  refused('fd00::/64', { encapsulation: 'always', overlay: 'ipip' }, /IP-in-IP does not carry IPv6/);
  refused(
    '10.0.0.0/16',
    { nodeSelector: 'zone =' },
    /node selector "zone =": expected ==, !=, in or not in, found "="/,
  );
  const outside = AddrRange.of(Addr.parse('10.1.0.0'), Addr.parse('10.1.0.9'));
  refused('10.0.0.0/16', { reserved: [outside] }, /reserved range 10\.1\.0\.0-10\.1\.0\.9 is not within/);
});

test('pools keep off each other, the nodes and the services', () => {
  const one = pool('10.0.0.0/16', { name: 'one' });
  const two = pool('10.1.0.0/16', { name: 'two' });
  checkPools([one, two, pool('fd00::/64', { name: 'six' })], {
    nodes: [Prefix.parse('192.0.2.0/24')],
    services: [Prefix.parse('10.96.0.0/12')],
  });
  const inner = pool('10.0.128.0/20', { name: 'inner' });
  assert.throws(() => checkPools([one, inner]), {
    code: 'IPAM_POOL_INVALID',
    message: 'pool inner: 10.0.128.0/20 overlaps 10.0.0.0/16 of pool one',
  });
  assert.throws(() => checkPools([one, pool('10.2.0.0/16', { name: 'one' })]), /two pools of this name/);
  assert.throws(() => checkPools([one], { nodes: [Prefix.parse('10.0.5.0/24')] }), /nodes' own addresses/);
  assert.throws(() => checkPools([two], { nodes: [Prefix.parse('10.0.0.0/8')] }), /nodes' own addresses/);
  assert.throws(
    () => checkPools([one], { services: [Prefix.parse('10.0.0.0/12')] }),
    /the range of services/,
  );
});

test('a pool in the store keeps its range and blocks, and goes only when nobody uses it', async () => {
  await using store = memoryStore();
  const config = { name: 'p', cidr: Prefix.parse('10.0.0.0/16') };
  const around = { nodes: [Prefix.parse('192.0.2.0/24')] };
  await putPool(store, config, around);
  await putPool(store, { ...config, natOutgoing: true });
  const invalid = (message: RegExp) => ({ code: 'IPAM_POOL_INVALID', message });
  await assert.rejects(
    putPool(store, { ...config, blockSize: 27 }),
    invalid(/cannot change from \/26 to \/27/),
  );
  await assert.rejects(
    putPool(store, { ...config, cidr: Prefix.parse('10.0.0.0/15') }),
    invalid(/cannot change/),
  );
  await assert.rejects(putPool(store, { ...config, name: 'q' }), invalid(/overlaps/));
  await assert.rejects(
    putPool(store, { name: 'n', cidr: Prefix.parse('192.0.0.0/16') }, around),
    invalid(/nodes' own/),
  );
  await assert.rejects(removePool(store, 'p'), invalid(/in use/));
  await putPool(store, { ...config, disabled: true });
  await removePool(store, 'p');
  await assert.rejects(removePool(store, 'p'), invalid(/no such pool/));
  await assert.rejects(putSettings(store, { coolDownSeconds: 1201 }), { code: 'STORE_VALUE_INVALID' });
  await assert.rejects(putSettings(store, { maxBlocksPerNode: 0 }), { code: 'STORE_VALUE_INVALID' });
});

/** A store by which something else happens right before a commit that changes keys like this, once. */
function interrupted(store: Store, keys: RegExp, first: () => Promise<unknown>): Store {
  let isDone = false;
  return {
    ...store,
    commit: async (transaction, options) => {
      const touches = transaction.changes.some((change) =>
        keys.test('put' in change ? change.put : change.delete),
      );
      if (touches && !isDone) {
        isDone = true;
        await first();
      }
      return store.commit(transaction, options);
    },
  };
}

test('no block is left of a pool that was removed, whoever of the two comes first', async () => {
  const config = { name: 'p', cidr: Prefix.parse('10.0.0.0/16') };
  for (const keys of [/affinities/, /blocks/]) {
    await using store = memoryStore();
    await putPool(store, config);
    const removal = async () => {
      await putPool(store, { ...config, disabled: true });
      await removePool(store, 'p');
    };
    const member = { store: interrupted(store, keys, removal), node: 'n1', now: () => 0 };
    await assert.rejects(allocateAddresses(member, { handle: 'h', families: [4] }), { code: 'IPAM_NO_POOL' });
    assert.deepEqual((await store.list(KEYS.blocks)).entries, []);
    assert.deepEqual((await store.list(KEYS.affinities)).entries, []);
  }
  await using store = memoryStore();
  const pool = await putPool(store, { ...config, disabled: true });
  const member = { store, node: 'n1', now: () => 0 };
  // By a node that has not heard yet that it is disabled.
  const claim = () => claimExactly(member, pool, Prefix.parse('10.0.0.0/26'));
  await assert.rejects(removePool(interrupted(store, /pools/, claim), 'p'), { code: 'STORE_CONFLICT' });
  await assert.rejects(removePool(store, 'p'), { message: /nodes have 1 blocks of it/ });
});

test('two pools that overlap are not added at the same time', async () => {
  await using store = memoryStore();
  const results = await Promise.allSettled([
    putPool(store, { name: 'a', cidr: Prefix.parse('10.0.0.0/16') }),
    putPool(store, { name: 'b', cidr: Prefix.parse('10.0.0.0/20') }),
  ]);
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

test('a node walks through every block once, and nodes begin in different places', () => {
  const small = pool('10.0.0.0/20');
  const all = [...blockOrder(small, 'node-1')].map(String);
  assert.equal(new Set(all).size, 64);
  assert.ok(all.every((cidr) => small.cidr.containsPrefix(Prefix.parse(cidr))));
  assert.deepEqual([...blockOrder(small, 'node-1')].map(String), all);
  const firsts = Array.from({ length: 40 }, (_, n) =>
    String(blockOrder(pool('10.0.0.0/8'), `node-${n}`).next().value),
  );
  assert.ok(new Set(firsts).size >= 39, 'of 262,144 blocks, forty nodes hardly want the same');
  const [wide] = blockOrder(pool('fd00::/48'), 'node-1');
  assert.ok(wide !== undefined && wide.bits === 122);
});

test('a cluster pool grows with the need, in steps', () => {
  // In use, then what is needed when eight are kept ahead: roundUp(inUse + 8, 8).
  for (const [inUse, needed] of [
    [0, 8],
    [1, 16],
    [8, 16],
    [9, 24],
    [16, 24],
    [17, 32],
    [100, 112],
  ] as const) {
    assert.equal(neededAddresses(inUse, { ahead: 8 }), needed, `${inUse} in use`);
  }
  // Batches of 16 with half a batch free: 16 * ceil(0.5 + 25 / 16).
  for (const [inUse, needed] of [
    [0, 16],
    [8, 16],
    [9, 32],
    [25, 48],
  ] as const) {
    assert.equal(neededAddresses(inUse, { ahead: 8, step: 16 }), needed, `${inUse} in use`);
  }
  const ofNodes = pool('10.0.0.0/8', { blockSize: 24 });
  for (const [inUse, blocks] of [
    [0, 1],
    [248, 1],
    [249, 2],
    [256, 2],
    [505, 3],
  ] as const) {
    assert.equal(neededBlocks(ofNodes, inUse, { ahead: 8 }), blocks, `${inUse} in use`);
  }
});
