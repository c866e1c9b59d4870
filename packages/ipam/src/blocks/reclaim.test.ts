import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Prefix } from '@heddle/netaddr';
import { put } from '@heddle/store';
import { memoryStore } from '@heddle/store/testing';
import { allocateAddresses } from './allocate.ts';
import { keepAhead } from './cluster-pool.ts';
import { putPool, putSettings } from './configure.ts';
import { releaseHandle } from './give-back.ts';
import { inspectStore } from './inspect.ts';
import { LeakWatch } from './leaks.ts';
import type { Member } from './member.ts';
import { releaseIdleBlocks, removeNode } from './reclaim.ts';
import { affinityCodec } from './records.ts';

function setUp() {
  const store = memoryStore();
  const clock = { now: 1_000_000 };
  const on = (node: string): Member => ({ store, node, now: () => clock.now });
  const take = (member: Member, handle: string) => allocateAddresses(member, { handle, families: [4] });
  const pool = (cidr: string, blockSize: number) =>
    putPool(store, { name: 'p', cidr: Prefix.parse(cidr), blockSize });
  const blocks = async () => {
    const { pools, problems } = await inspectStore(store);
    assert.deepEqual(problems, []);
    return pools.flatMap((each) => each.blocks).map(({ node, held }) => `${node} ${held}`);
  };
  return { store, clock, on, take, pool, blocks };
}

test('blocks that nobody has used for a minute are given up, but the last one', async () => {
  const { clock, on, take, pool, blocks } = setUp();
  await pool('10.0.0.0/24', 31);
  for (const handle of ['a', 'b', 'c', 'd', 'e', 'f']) await take(on('n1'), handle);
  for (const handle of ['a', 'b', 'c', 'd']) await releaseHandle(on('n1'), handle);
  assert.equal(await releaseIdleBlocks(on('n1')), 0, 'not at once');
  clock.now += 60_000;
  assert.equal(await releaseIdleBlocks(on('n1')), 2);
  assert.deepEqual(await blocks(), ['n1 2']);
  for (const handle of ['e', 'f']) await releaseHandle(on('n1'), handle);
  clock.now += 60_000;
  assert.equal(await releaseIdleBlocks(on('n1')), 0);
  assert.equal(await releaseIdleBlocks(on('n1'), { keep: 0 }), 1);
  assert.deepEqual(await blocks(), []);
});

test('a clock that is set makes no address rested, no block idle and nothing leaked', async () => {
  const { store, clock, on, take, pool, blocks } = setUp();
  await pool('10.0.0.0/30', 31);
  await putSettings(store, { coolDownSeconds: 60 });
  // What a node does that knows how much of a difference was nobody's time.
  let set = 0;
  const node: Member = { ...on('n1'), age: (moment) => clock.now - (moment < set ? moment + set : moment) };
  const leaks = new LeakWatch(node);
  for (const handle of ['a', 'b', 'c', 'd']) await take(node, handle);
  for (const handle of ['a', 'b']) await releaseHandle(node, handle);
  assert.deepEqual(await leaks.observe(new Set()), []);
  set = 86_400_000;
  clock.now += set;
  assert.deepEqual(await leaks.observe(new Set()), [], 'a day is no quarter of an hour');
  assert.equal(await releaseIdleBlocks(node, { keep: 0 }), 0);
  await assert.rejects(take(node, 'e'), { code: 'POOL_EXHAUSTED' });
  await assert.rejects(take({ ...node, node: 'n2' }, 'e'), { code: 'POOL_EXHAUSTED' });
  clock.now += 60_000;
  assert.deepEqual((await blocks()).toSorted(), ['n1 0', 'n1 2']);
  assert.equal(await releaseIdleBlocks(node, { keep: 0 }), 1);
  await take(node, 'e');
});

test('what was begun is finished: a claim by the next allocation, a giving up by the next round', async () => {
  const { store, clock, on, take, pool, blocks } = setUp();
  await pool('10.0.0.0/30', 31);
  const affinity = (state: 'pending' | 'pendingDeletion') => {
    const value = { node: 'n1', pool: 'p', cidr: Prefix.parse('10.0.0.2/31'), state };
    return put(store, '/heddle/ipam/affinities/n1/10.0.0.2-31', affinityCodec.encode(value));
  };
  await affinity('pending');
  const [taken] = await take(on('n1'), 'a');
  assert.equal(String(taken?.block), '10.0.0.2/31');
  await affinity('pendingDeletion');
  assert.equal(await releaseIdleBlocks(on('n1')), 0, 'it is in use, so it is the node’s again');
  assert.deepEqual(await blocks(), ['n1 1']);
  await releaseHandle(on('n1'), 'a');
  clock.now += 60_000;
  await affinity('pendingDeletion');
  assert.equal(await releaseIdleBlocks(on('n1')), 1);
  assert.deepEqual(await blocks(), []);
});

test('a node that is gone leaves nothing, but what others borrowed from it', async () => {
  const { store, on, take, pool, blocks } = setUp();
  await pool('10.0.0.0/30', 31);
  await take(on('n1'), 'a');
  await take(on('n2'), 'b');
  await take(on('n3'), 'borrowed');
  const key = '/heddle/nodes/n1';
  const gone = { key, revision: 0 };
  await put(store, key, '');
  await assert.rejects(removeNode(on('n2'), 'n1', gone), { code: 'IPAM_NODE_ALIVE' });
  assert.equal((await blocks()).length, 2);
  await store.commit({ changes: [{ delete: key }] });
  await removeNode(on('n2'), 'n1', gone);
  await removeNode(on('n2'), 'n1', gone);
  const left = await blocks();
  assert.ok(left.every((line) => !line.startsWith('n1')));
  const { handles } = await inspectStore(store);
  assert.deepEqual(handles.map(({ handle }) => handle).sort(), ['b', 'borrowed']);
  await take(on('n4'), 'c');
  assert.equal((await inspectStore(store)).handles.length, 3, 'its room is used by others');
});

test('an address is leaked when two looks, a while apart, find it without an attachment', async () => {
  const { clock, on, take, pool, store } = setUp();
  await pool('10.0.0.0/26', 26);
  await putSettings(store, { coolDownSeconds: 0 });
  const member = on('n1');
  for (const handle of ['live', 'leaked', 'again']) await take(member, handle);
  await take(on('n2'), 'elsewhere');
  const leaks = new LeakWatch(member, 1000);
  assert.deepEqual(await leaks.observe(new Set(['live'])), []);
  clock.now += 999;
  assert.deepEqual(await leaks.observe(new Set(['live'])), [], 'not long enough');
  // Released and taken again by the same name: that is another holder.
  await releaseHandle(member, 'again');
  await take(member, 'again');
  clock.now += 1;
  assert.equal((await leaks.release(new Set(['live']))).length, 1);
  const { handles } = await inspectStore(store);
  assert.deepEqual(handles.map(({ handle }) => handle).sort(), ['again', 'elsewhere', 'live']);
});

test('a look that found the attachment begins the wait anew, as does a clock that was set back', async () => {
  const { clock, on, take, pool } = setUp();
  await pool('10.0.0.0/26', 26);
  await take(on('n1'), 'a');
  const leaks = new LeakWatch(on('n1'), 1000);
  await leaks.observe(new Set());
  await leaks.observe(new Set(['a']));
  clock.now += 2000;
  assert.deepEqual(await leaks.observe(new Set()), []);
  clock.now -= 5000;
  assert.deepEqual(await leaks.observe(new Set()), []);
  clock.now += 1000;
  assert.equal((await leaks.observe(new Set())).length, 1);
});

test('in a cluster pool, a node is kept ahead of its need with blocks of its own only', async () => {
  const { store, on, take, pool, blocks } = setUp();
  await pool('10.0.0.0/27', 29);
  await putSettings(store, { mode: 'cluster-pool' });
  const member = on('n1');
  const ahead = { ahead: 4 };
  assert.equal((await keepAhead(member, 4, ahead)).length, 1);
  for (const [handle, expected] of [
    ['a', 1],
    ['b', 1],
    ['c', 1],
    ['d', 1],
    ['e', 2],
  ] as const) {
    await take(member, handle);
    assert.equal((await keepAhead(member, 4, ahead)).length, expected, handle);
  }
  for (let n = 0; n < 16; n++) await take(on('n2'), `n2-${n}`);
  assert.deepEqual((await blocks()).sort(), ['n1 0', 'n1 5', 'n2 8', 'n2 8']);
  await assert.rejects(take(on('n2'), 'more'), { code: 'POOL_EXHAUSTED' }, 'nothing is borrowed');
  await putPool(store, { name: 'q', cidr: Prefix.parse('10.9.0.0/27'), blockSize: 29 });
  await take(on('n2'), 'more');
});

test('in a cluster pool, idle blocks that keep a node ahead of its need are not given up, further ones are', async () => {
  const { store, clock, on, take, pool, blocks } = setUp();
  await pool('10.0.0.0/26', 29);
  await putSettings(store, { mode: 'cluster-pool', ahead: 12 });
  const member = on('n1');
  const ahead = { ahead: 12 };
  assert.equal((await keepAhead(member, 4, ahead)).length, 2);
  for (let n = 0; n < 13; n++) await take(member, `h${n}`);
  assert.equal((await keepAhead(member, 4, ahead)).length, 5, '36 addresses for 13 in use');
  for (let n = 0; n < 13; n++) await releaseHandle(member, `h${n}`);
  clock.now += 60_000;
  assert.equal(await releaseIdleBlocks(member), 3);
  assert.deepEqual(await blocks(), ['n1 0', 'n1 0'], 'as many as for nobody');
  clock.now += 60_000;
  assert.equal(await releaseIdleBlocks(member), 0);
  assert.equal((await keepAhead(member, 4, ahead)).length, 2, 'and none is claimed again');
  await putSettings(store, { mode: 'blocks' });
  assert.equal(await releaseIdleBlocks(member), 1);
});
