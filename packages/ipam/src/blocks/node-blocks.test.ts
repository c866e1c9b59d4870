import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Prefix } from '@heddle/netaddr';
import { put, remove, type Store } from '@heddle/store';
import { memoryStore } from '@heddle/store/testing';
import { allocateAddresses } from './allocate.ts';
import { putPool, putSettings } from './configure.ts';
import { releaseHandle } from './give-back.ts';
import { inspectStore } from './inspect.ts';
import type { Member } from './member.ts';
import { NodeBlocks } from './node-blocks.ts';
import { releaseIdleBlocks } from './reclaim.ts';

let store: Store;
let calls: string[];
let now = 0;
beforeEach(async () => {
  store = memoryStore();
  calls = [];
  now = 1_000_000;
  await putPool(store, { name: 'four', cidr: Prefix.parse('10.0.0.0/22') });
  await putPool(store, { name: 'six', cidr: Prefix.parse('fd00::/118') });
});

/** The store, with a note of each call that comes to it. */
function watched(): Store {
  return new Proxy(store, {
    get(target, name: 'get') {
      const method: unknown = target[name];
      if (typeof method !== 'function') return method;
      return (...args: readonly unknown[]) => {
        calls.push(name);
        return method.apply(target, args);
      };
    },
  });
}
const member = (node = 'n1'): Member => ({ store: watched(), node, now: () => now });
const text = (taken: Awaited<ReturnType<NodeBlocks['take']>>) => taken.map(({ address }) => String(address));
const problems = async () => (await inspectStore(store)).problems;

test('what is remembered is taken and given back by one commit each, without a look', async () => {
  const blocks = new NodeBlocks(member());
  const first = text(await blocks.take({ handle: 'h0' }));
  assert.match(first.join(), /^10\.0\.\d+\.\d+\/32,fd00::[\da-f]+\/128$/);
  await blocks.take({ handle: 'h1' });
  calls.length = 0;
  const seen = new Set<string>();
  for (let n = 2; n < 60; n++)
    for (const each of text(await blocks.take({ handle: `h${n}` }))) seen.add(each);
  assert.equal(seen.size, 116);
  for (let n = 2; n < 60; n++) assert.equal((await blocks.give(`h${n}`)).length, 2);
  assert.deepEqual(new Set(calls), new Set(['commit']));
  assert.equal(calls.length, 116);
  assert.deepEqual(await problems(), []);
});

test('many at once, over several blocks: each gets its own', async () => {
  const blocks = new NodeBlocks(member());
  const taken = await Promise.all(
    Array.from({ length: 300 }, (_, n) => blocks.take({ handle: `h${n}`, pod: `default/p${n}` })),
  );
  assert.equal(new Set(taken.flatMap(text)).size, 600);
  assert.deepEqual(await problems(), []);
  const { handles } = await inspectStore(store);
  assert.equal(handles.find(({ handle }) => handle === 'h7')?.pod, 'default/p7');
  await Promise.all(handles.map(({ handle }) => blocks.give(handle)));
  assert.deepEqual((await inspectStore(store)).handles, []);
});

test('what others changed meanwhile is noticed by the next commit', async () => {
  const blocks = new NodeBlocks(member());
  const [before] = text(await blocks.take({ handle: 'a', families: [4] }));
  // Somebody of the same node, without this memory.
  const [other] = await allocateAddresses(member(), { handle: 'b', families: [4] });
  const [after] = text(await blocks.take({ handle: 'c', families: [4] }));
  assert.equal(new Set([before, String(other?.address), after]).size, 3);
  assert.deepEqual(text(await blocks.take({ handle: 'b', families: [4] })), [String(other?.address)]);
  await releaseHandle(member(), 'c');
  assert.deepEqual(await blocks.give('c'), []);
  assert.deepEqual(await problems(), []);
});

test('a pool that was disabled, and another rest, count from the next address on', async () => {
  const blocks = new NodeBlocks(member());
  await blocks.take({ handle: 'a' });
  await putPool(store, { name: 'six', cidr: Prefix.parse('fd00::/118'), disabled: true });
  assert.match(text(await blocks.take({ handle: 'b' })).join(), /^10\.[\d.]+\/32$/);
  await assert.rejects(blocks.take({ handle: 'c', families: [4, 6] }), { code: 'IPAM_NO_POOL' });
  await putPool(store, { name: 'four', cidr: Prefix.parse('10.0.0.0/22'), disabled: true });
  await assert.rejects(blocks.take({ handle: 'd' }), {
    code: 'IPAM_NO_POOL',
    message: /^no pool is enabled for node n1$/,
  });
  await putSettings(store, { coolDownSeconds: 5 });
  assert.equal((await blocks.give('a')).length, 2);
});

test('a block that was given up and taken by another node is not given from any more', async () => {
  const blocks = new NodeBlocks(member());
  const [given] = await blocks.take({ handle: 'a', families: [4] });
  await blocks.give('a');
  now += 100_000;
  await releaseIdleBlocks(member(), { keep: 0 });
  const request = {
    handle: 'x',
    families: [4] as const,
    addresses: [given?.address.addr].filter((a) => !!a),
  };
  await allocateAddresses(member('n2'), request);
  const [next] = await blocks.take({ handle: 'b', families: [4] });
  assert.notEqual(String(next?.address), String(given?.address));
  assert.deepEqual(await problems(), []);
});

test('a node that was taken for dead takes nothing, also from what it remembers', async () => {
  const key = '/heddle/nodes/n1';
  const revision = await put(store, key, '{}');
  const blocks = new NodeBlocks({ ...member(), presence: { key, revision } });
  await blocks.take({ handle: 'a' });
  await remove(store, key);
  await assert.rejects(blocks.take({ handle: 'b' }), { code: 'IPAM_NODE_LOST' });
  assert.equal((await blocks.give('a')).length, 2);
});

test('a handle that was written by another commit is left alone', async () => {
  const blocks = new NodeBlocks(member());
  await blocks.take({ handle: 'a' });
  assert.deepEqual(await blocks.give('a', { writtenAt: 1 }), []);
  assert.equal((await blocks.give('a')).length, 2);
});

test('in a cluster pool, blocks that were claimed ahead are taken from without a look', async () => {
  await putSettings(store, { mode: 'cluster-pool', ahead: 40 });
  const blocks = new NodeBlocks(member());
  assert.equal(blocks.reserves(), undefined, 'nothing is remembered');
  await blocks.take({ handle: 'h0' });
  const behind = (all: ReturnType<NodeBlocks['reserves']>) =>
    all?.map(({ family, free, spare }) => [family, free, spare]);
  assert.deepEqual(behind(blocks.reserves()), [
    [4, 63, -16],
    [6, 63, -16],
  ]);
  const kept = [
    [4, 127, 48],
    [6, 127, 48],
  ];
  assert.deepEqual(behind(await blocks.keepAhead()), kept);
  assert.deepEqual(behind(blocks.reserves()), kept);
  calls.length = 0;
  for (let n = 1; n < 128; n++) await blocks.take({ handle: `h${n}` });
  assert.deepEqual(new Set(calls), new Set(['commit']));
  assert.deepEqual(await problems(), []);
});

test('claiming ahead while addresses are taken gives everybody an address of their own', async () => {
  await putSettings(store, { mode: 'cluster-pool', ahead: 8 });
  const blocks = new NodeBlocks(member());
  const taking = Array.from({ length: 150 }, async (_, n) => {
    const taken = text(await blocks.take({ handle: `h${n}` }));
    await blocks.keepAhead();
    return taken;
  });
  assert.equal(new Set((await Promise.all(taking)).flat()).size, 300);
  const kept = await blocks.keepAhead();
  assert.deepEqual(
    kept.map(({ needed, spare }) => [needed, spare >= 0]),
    [
      [160, true],
      [160, true],
    ],
  );
  assert.deepEqual(await problems(), []);
});

test('where the pools have no more blocks, it is known how far behind the node is', async () => {
  await putSettings(store, { mode: 'cluster-pool', ahead: 2_000 });
  const blocks = new NodeBlocks(member());
  const [four] = await blocks.keepAhead();
  assert.deepEqual(four, { family: 4, free: 1_024, spare: -976, needed: 2_000 });
  await putSettings(store, { mode: 'blocks' });
  assert.deepEqual(await blocks.keepAhead(), []);
});
