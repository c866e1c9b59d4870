import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaksOfRandomChains } from './random-chains.ts';

const SEED = Number(process.env['LEAK_SEED'] ?? 1);

test(`40 random chains, half of them with a failure in between, leave nothing (seed ${SEED})`, async (t) => {
  const leaks = await leaksOfRandomChains({ count: 40, seed: SEED, kinds: 'common' }, (chain) =>
    t.diagnostic(chain),
  );
  assert.deepEqual(leaks, []);
});
