import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Addr, Prefix } from '@heddle/netaddr';
import {
  add,
  chain,
  create,
  delete_,
  element,
  type KernelSession,
  NftMemory,
  openSession,
  ret,
  rule,
  set,
  table,
} from '../index.ts';
import { TestNetns } from '../testing/test-netns.ts';

const WHERE = { family: 'inet', table: 'hd' } as const;
const PODS = set({ ...WHERE, name: 'pods', key: ['ipv4_addr', 'ipv4_addr'], intervals: true });
const pod = (n: number) =>
  element({
    ...WHERE,
    set: PODS,
    key: [Addr.parse(`10.1.0.${n}`), Prefix.parse('10.1.0.0/16')],
    comment: `pod ${n}`,
  });

/** A session that remembers, one that does not, and how many exchanges the first has made. */
function sessions(lab: TestNetns) {
  let exchanges = 0;
  const onExchange = () => {
    exchanges++;
    return () => {};
  };
  const remembering = openSession({ netns: lab.handle, mode: 'sync', ruleset: new NftMemory(), onExchange });
  const taken = () => {
    const before = exchanges;
    exchanges = 0;
    return before;
  };
  return { remembering, plain: lab.session, taken };
}

async function build({ nft }: KernelSession): Promise<void> {
  await nft.commit([
    add(table({ family: WHERE.family, name: WHERE.table })),
    add(PODS),
    add(chain({ ...WHERE, name: 'c' })),
    create(pod(1)),
  ]);
}

const names = (elements: readonly { readonly comment?: string }[]) =>
  elements.map(({ comment }) => comment).sort();

test('what nobody has changed is not read again, and own changes are known', async () => {
  using lab = new TestNetns();
  const { remembering, taken } = sessions(lab);
  using session = remembering;
  const { nft } = session;
  await build(session);
  assert.deepEqual(names(await nft.elementsOf(PODS)), ['pod 1']);
  taken();
  await nft.commit([create(pod(2)), delete_(pod(1)), create(pod(3))]);
  assert.equal(taken(), 2, 'the transaction, and the generation after it');
  assert.deepEqual(names(await nft.elementsOf(PODS)), ['pod 2', 'pod 3']);
  assert.equal(taken(), 0);
  await turn();
  assert.deepEqual(names(await nft.elementsOf(PODS)), ['pod 2', 'pod 3']);
  assert.equal(taken(), 1, 'the generation');
  const listed = await lab.session.nft.elements({ ...WHERE, set: 'pods' });
  assert.deepEqual(names(await nft.elementsOf(PODS)), names(listed));
  await nft.commit([delete_(PODS)]);
  assert.deepEqual(await nft.elementsOf(PODS), []);
});

test("what somebody else changes is seen, also between two changes of one's own", async () => {
  using lab = new TestNetns();
  const { remembering, plain } = sessions(lab);
  using session = remembering;
  const { nft } = session;
  await build(session);
  assert.deepEqual(names(await nft.elementsOf(PODS)), ['pod 1']);
  await plain.nft.commit([create(pod(9))]);
  await nft.commit([create(pod(2))]);
  assert.deepEqual(names(await nft.elementsOf(PODS)), ['pod 1', 'pod 2', 'pod 9']);
  await plain.nft.commit([delete_(pod(9))]);
  await nft.generation();
  assert.deepEqual(names(await nft.elementsOf(PODS)), ['pod 1', 'pod 2']);
  lab.run('nft', 'flush', 'set', 'inet', 'hd', 'pods');
  await turn();
  assert.deepEqual(await nft.elementsOf(PODS), []);
});

test('a transaction that is refused leaves nothing behind, nor anything remembered', async () => {
  using lab = new TestNetns();
  const { remembering } = sessions(lab);
  using session = remembering;
  const { nft } = session;
  await build(session);
  await assert.rejects(nft.commit([create(pod(2)), create(pod(1))]), /EEXIST/);
  assert.deepEqual(names(await nft.elementsOf(PODS)), ['pod 1']);
});

test('rules and tables are remembered until they change', async () => {
  using lab = new TestNetns();
  const { remembering, plain, taken } = sessions(lab);
  using session = remembering;
  const { nft } = session;
  await build(session);
  const inChain = () => nft.rules({ ...WHERE, chain: 'c' });
  assert.equal((await inChain()).length, 0);
  assert.equal((await nft.tables()).length, 1);
  taken();
  await inChain();
  await nft.tables();
  assert.equal(taken(), 0);
  await nft.commit([add(rule({ ...WHERE, chain: 'c', expressions: [ret()] }))]);
  assert.equal((await inChain()).length, 1);
  await plain.nft.commit([add(table({ family: 'ip', name: 'other' }))]);
  await turn();
  assert.equal((await nft.tables()).length, 2);
});
