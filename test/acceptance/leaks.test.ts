import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DhcpLink } from '@heddle/plugins/testing';
import { leaksOfRandomChains } from './random-chains.ts';

const SEED = Number(process.env['LEAK_SEED'] ?? 1);

test(`48 random chains, half of them with a failure in between, leave nothing (seed ${SEED})`, {
  skip: DhcpLink.ABSENT,
}, async (t) => {
  const { leaks, untested } = await leaksOfRandomChains({ count: 48, seed: SEED, kinds: 'common' }, (chain) =>
    t.diagnostic(chain),
  );
  assert.deepEqual(leaks, []);
  assert.deepEqual(untested, [], 'plugins of the catalogue that no chain had');
});
