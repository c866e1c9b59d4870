import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '@heddle/store';
import { runCluster, type Tally } from './testing/simulated-cluster.ts';

/** HEDDLE_IPAM_STEPS=1000000 for the long run. */
const STEPS = Number(process.env['HEDDLE_IPAM_STEPS'] ?? 10_000);
const RUNS = 20;
/** HEDDLE_IPAM_SEED=… to see one run again. */
const FIRST = Number(process.env['HEDDLE_IPAM_SEED'] ?? 1);

test(`${STEPS} steps of nodes that come and go: no two owners, no live address freed, nothing leaked`, async () => {
  const total: Record<string, number> = {};
  for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
    for (const [what, times] of Object.entries(await run(seed))) total[what] = (total[what] ?? 0) + times;
  }
  // That the promises were put to the test: everything that can happen did.
  for (const what of EVENTS)
    assert.ok((total[what] ?? 0) > 0, `${what} never happened: ${JSON.stringify(total)}`);
});

const EVENTS = [
  'added',
  'released',
  'leaks',
  'crashes',
  'blocks given up',
  'nodes lost',
  'nodes removed',
  'add: POOL_EXHAUSTED',
  'add: STORE_UNAVAILABLE',
  'add: IPAM_ADDRESS_UNAVAILABLE',
  'add: IPAM_NODE_LOST',
  'release: STORE_UNAVAILABLE',
];

async function run(seed: number): Promise<Tally> {
  try {
    return await runCluster({ seed, steps: STEPS / RUNS });
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

test('a planted fault is found: blocks written without looking who wrote them last', async () => {
  await assert.rejects(
    someRun({ sabotage: carelessly }),
    /is given to|was freed|two owners|does not say|has no handle/,
  );
});

test('a planted fault is found: a collector that believes its first look', async () => {
  await assert.rejects(someRun({ hasty: true }), /is given to|was freed/);
});

async function someRun(fault: { sabotage?: (store: Store) => Store; hasty?: boolean }): Promise<void> {
  for (let seed = 1; seed <= 10; seed++) await runCluster({ seed, steps: 1000, ...fault });
}

function carelessly(store: Store): Store {
  return {
    ...store,
    commit: ({ conditions = [], changes }, options) =>
      store.commit(
        { conditions: conditions.filter(({ key }) => !key.includes('/blocks/')), changes },
        options,
      ),
  };
}
