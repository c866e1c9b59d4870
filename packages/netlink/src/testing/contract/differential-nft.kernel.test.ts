/** Random batches, given to the fake nf_tables and to the real one: they are refused alike and come to the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { createNetns } from '@heddle/sys';
import fc from 'fast-check';
import { NetlinkError } from '../../core/netlink-error.ts';
import {
  add,
  chain,
  counter,
  create,
  delete_,
  destroy,
  element,
  flush,
  insert,
  map,
  type NftChange,
  rule,
  set,
  table,
} from '../../nft/changes.ts';
import { describeChange } from '../../nft/describe.ts';
import { formatKey } from '../../nft/key-values.ts';
import type { NftChain, NftElement, NftObject, NftSet, NftTable } from '../../nft/model.ts';
import { ip, ip6 } from '../../nft/operands.ts';
import { canonical } from '../../nft/same-expressions.ts';
import { accept, counterRef, drop, jump, masquerade, match, setRef, vmap } from '../../nft/statements.ts';
import { type KernelSession, openSession } from '../../session/session.ts';
import { FakeKernel } from '../fake-kernel.ts';
import { reasonToSkip } from './kernel-release.ts';

const from = <const T>(...values: readonly T[]) => fc.constantFrom(...values);
const T = { family: 'inet', table: 't' } as const;
const TABLE = table({ family: 'inet', name: 't' });

const HASHED = set({ ...T, name: 'hashed', key: 'ipv4_addr' });
const NETS = set({ ...T, name: 'nets', key: 'ipv4_addr', intervals: true });
const PAIRS = set({ ...T, name: 'pairs', key: ['ipv4_addr', 'ipv4_addr'], intervals: true });
const VERDICTS = map({ ...T, name: 'verdicts', key: 'ipv6_addr', data: 'verdict' });
const HITS = counter({ ...T, name: 'hits' });
const FILTER = { type: 'filter', hook: 'input', priority: 0, policy: 'accept' } as const;
const NAT = { type: 'nat', hook: 'postrouting', priority: 100, policy: 'accept' } as const;
const CHAINS: readonly NftChain[] = [
  ...['a', 'b'].map((name) => chain({ ...T, name })),
  chain({ ...T, name: 'in', base: FILTER }),
  chain({ ...T, name: 'post', base: NAT }),
  chain({ ...T, name: 'a', base: FILTER }),
];

const chainName = from('a', 'b', 'in', 'post');
const addr = from('10.0.0.1', '10.0.0.2', '10.0.1.0', '9.255.255.255').map(Addr.parse);
const prefix = from('10.0.0.0/8', '10.0.0.0/24', '10.0.1.0/24', '10.0.0.1/32', '11.0.0.0/8', '0.0.0.0/0').map(
  Prefix.parse,
);
const addr6 = from('fd00::1', 'fd00::2').map(Addr.parse);

const elements: fc.Arbitrary<NftElement> = fc.oneof(
  addr.map((key) => element({ ...T, set: 'hashed', key })),
  prefix.map((key) => element({ ...T, set: 'nets', key })),
  fc.tuple(prefix, prefix).map((key) => element({ ...T, set: 'pairs', key })),
  fc
    .tuple(
      addr6,
      fc.oneof(
        fc.constant(drop()),
        chainName.map((to) => jump(to)),
      ),
    )
    .map(([key, data]) => element({ ...T, set: 'verdicts', key, data })),
);

const statements = fc.oneof(
  chainName.map((to) => [jump(to)]),
  fc.constant([masquerade()]),
  from('hashed', 'nets').map((name) => [match(ip.saddr, 'in', setRef(name)), accept()]),
  fc.constant([vmap(ip6.daddr, 'verdicts')]),
  fc.constant([counterRef('hits'), drop()]),
  addr.map((to) => [match(ip.daddr, 'in', [to, Prefix.parse('192.0.2.0/24')]), drop()]),
);

type Flushable = NftTable | NftChain | NftSet;

const rules = fc
  .tuple(chainName, statements)
  .map(([name, expressions]) => rule({ ...T, chain: name, expressions }));
const objects: fc.Arbitrary<NftObject> = fc.constantFrom<NftObject[]>(
  TABLE,
  ...CHAINS,
  HASHED,
  NETS,
  PAIRS,
  VERDICTS,
  HITS,
);

const changes: fc.Arbitrary<NftChange> = fc.oneof(
  { weight: 3, arbitrary: objects.map((each) => add(each)) },
  objects.map(create),
  objects.map(delete_),
  objects.map(destroy),
  { weight: 4, arbitrary: rules.map(add) },
  rules.map(insert),
  { weight: 5, arbitrary: elements.map(add) },
  { weight: 2, arbitrary: elements.map(create) },
  elements.map(delete_),
  fc
    .constantFrom<Flushable[]>(TABLE, ...CHAINS.slice(0, 4), HASHED, NETS, VERDICTS)
    .map((each) => flush(each)),
);

/** What came of a batch: nothing, or the errno and the change that was to blame. */
async function outcome({ nft }: KernelSession, batch: readonly NftChange[]): Promise<string> {
  try {
    await nft.commit(batch);
    return 'done';
  } catch (error) {
    if (error instanceof NetlinkError) return `${error.operation}: ${error.errno}`;
    throw error;
  }
}

/** The ruleset, but for handles, which the real one also loses to batches that it gave up. */
async function state({ nft }: KernelSession): Promise<unknown> {
  const bare = ({ handle: _, ...rest }: { readonly handle?: number }) => rest;
  const sets = await nft.sets(T);
  const inSets = await Promise.all(sets.map(({ name }) => nft.elements({ ...T, set: name })));
  return {
    tables: (await nft.tables()).map(bare),
    chains: (await nft.chains(T)).map(bare),
    rules: (await nft.rules(T)).map(({ chain: name, expressions }) => [name, expressions.map(canonical)]),
    sets: sets.map(bare),
    counters: (await nft.counters(T)).map(bare),
    elements: inSets
      .flat()
      .map(({ set: name, key, data }) => `${name} ${formatKey(key)} ${JSON.stringify(data)}`)
      .toSorted(),
  };
}

test('batches of nf_tables, made at random, are taken, refused and blamed the same in both', {
  skip: reasonToSkip() ?? false,
}, async () => {
  const prepared = [TABLE, ...CHAINS.slice(0, 4), HASHED, NETS, PAIRS, VERDICTS, HITS].map(add);
  const batches = fc.array(fc.array(changes, { minLength: 1, maxLength: 4 }), {
    minLength: 5,
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(batches, fc.boolean(), async (chosen, isEmpty) => {
      using fake = new FakeKernel().session('host');
      using netns = createNetns();
      using real = openSession({ netns, mode: 'sync' });
      const done: string[] = [];
      for (const batch of isEmpty ? chosen : [prepared, ...chosen]) {
        const wanted = await outcome(real, batch);
        done.push(`${batch.map(describeChange).join('; ')} => ${wanted}`);
        assert.equal(await outcome(fake, batch), wanted, done.join('\n'));
        assert.deepEqual(await state(fake), await state(real), done.join('\n'));
      }
    }),
    { numRuns: RUNS, seed: SEED },
  );
});

const RUNS = 30;
/** The same batches every time, so that a failure is one of the code. */
const SEED = 20_261_130;
