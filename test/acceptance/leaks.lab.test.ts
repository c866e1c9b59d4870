import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaksOfRandomChains } from './random-chains.ts';

test('random chains on dummy, vlan, ipvlan and VRF links and VLAN ports leave nothing', async (t) => {
  const leaks = await leaksOfRandomChains({ count: 8, seed: 1, kinds: 'rare' }, (chain) =>
    t.diagnostic(chain),
  );
  assert.deepEqual(leaks, []);
});
