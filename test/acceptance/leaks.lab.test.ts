import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DhcpLink } from '@heddle/plugins/testing';
import { leaksOfRandomChains } from './random-chains.ts';

test('random chains on dummy, vlan, ipvlan and VRF links and VLAN ports leave nothing', {
  skip: DhcpLink.ABSENT,
}, async (t) => {
  const { leaks, untested } = await leaksOfRandomChains({ count: 8, seed: 1, kinds: 'rare' }, (chain) =>
    t.diagnostic(chain),
  );
  assert.deepEqual(leaks, []);
  assert.deepEqual(untested, [], 'plugins of the catalogue that no chain had');
});
