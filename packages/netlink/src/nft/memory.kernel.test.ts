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
  flush,
  insert,
  type KernelSession,
  NftMemory,
  openSession,
  replace,
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
  assert.equal(taken(), 1, 'the transaction, which tells of the generation after it');
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

const IN_CHAIN = { ...WHERE, chain: 'c' };
const said = (comment: string) => rule({ ...IN_CHAIN, expressions: [ret()], comment });

test("rules that were added, put in between and deleted by oneself are known as the kernel's", async () => {
  using lab = new TestNetns();
  const { remembering, taken } = sessions(lab);
  using session = remembering;
  const { nft } = session;
  await build(session);
  const known = () => nft.rules(IN_CHAIN);
  const isAsListed = async (expected: readonly string[]) => {
    assert.deepEqual(await known(), await lab.session.nft.rules(IN_CHAIN));
    assert.deepEqual(names(await known()), [...expected].sort());
  };
  await known();
  taken();
  await nft.commit([add(said('b')), create(pod(2)), insert(said('a')), add(said('d'))]);
  const [, b, d] = await known();
  assert.ok(b !== undefined && d !== undefined);
  await nft.commit([insert({ ...said('c'), position: d.handle }), add({ ...said('e'), position: d.handle })]);
  await nft.commit([delete_(b), add(table({ family: 'inet', name: 'hd' })), add(PODS)]);
  assert.equal((await known()).length, 4);
  assert.equal(taken(), 3, 'the transactions');
  await isAsListed(['a', 'c', 'd', 'e']);
  await nft.commit([replace({ ...said('f'), handle: d.handle })]);
  await isAsListed(['a', 'c', 'e', 'f']);
  await nft.commit([flush(chain({ ...WHERE, name: 'c' }))]);
  await isAsListed([]);
});

test('whether there is a chain is remembered until it changes', async () => {
  using lab = new TestNetns();
  const { remembering, taken } = sessions(lab);
  using session = remembering;
  const { nft } = session;
  await build(session);
  const find = (name: string) => nft.findChain({ ...WHERE, name });
  assert.equal(await find('later'), undefined);
  assert.equal((await find('c'))?.name, 'c');
  taken();
  assert.equal(await find('later'), undefined);
  assert.equal(taken(), 0);
  await nft.commit([create(chain({ ...WHERE, name: 'later' }))]);
  assert.equal((await find('later'))?.name, 'later');
  await nft.commit([delete_(chain({ ...WHERE, name: 'later' }))]);
  assert.equal(await find('later'), undefined);
});

for (const mode of ['sync', 'threaded'] as const) {
  test(`sessions that take turns know each other's changes without reading (${mode})`, async () => {
    using lab = new TestNetns();
    using stack = new DisposableStack();
    const memory = new NftMemory();
    let exchanges = 0;
    const onExchange = () => {
      exchanges++;
      return () => {};
    };
    const all = Array.from({ length: 12 }, () =>
      stack.use(openSession({ netns: lab.handle, mode, ruleset: memory, onExchange })),
    );
    const [first] = all as [KernelSession, ...KernelSession[]];
    await build(first);
    await first.nft.elementsOf(PODS);
    await first.nft.rules(IN_CHAIN);
    exchanges = 0;
    await Promise.all(
      all.map(async ({ nft }, index) => {
        using _turn = await nft.turn();
        await nft.generation();
        const [elements, rules] = [await nft.elementsOf(PODS), await nft.rules(IN_CHAIN)];
        assert.equal(elements.length, rules.length + 1);
        await nft.commit([create(pod(100 + index)), add(said(`pod ${100 + index}`))]);
      }),
    );
    assert.ok(exchanges <= 3 * all.length, `${exchanges} exchanges`);
    assert.equal((await first.nft.elementsOf(PODS)).length, 13);
    assert.deepEqual(await first.nft.rules(IN_CHAIN), await lab.session.nft.rules(IN_CHAIN));
  });
}

test('the turn is given back by whoever fails', async () => {
  const memory = new NftMemory();
  const fails = async () => {
    using _turn = await memory.turn();
    throw new Error('no');
  };
  const order: number[] = [];
  const takes = async (number: number) => {
    using _turn = await memory.turn();
    order.push(number);
  };
  await Promise.all([takes(1), assert.rejects(fails()), takes(2), takes(3)]);
  assert.deepEqual(order, [1, 2, 3]);
});
