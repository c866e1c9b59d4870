import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeConfig } from '@heddle/cni';
import { bridgeConfig } from './config.ts';
import { trunkIds } from './vlan-trunk.ts';

const trunk = (vlanTrunk: unknown) => decodeConfig(bridgeConfig, { vlanTrunk }).vlanTrunk ?? [];

test('a trunk is the union of its entries, each id once, ascending', () => {
  const entries = trunk([
    { minID: 100, maxID: 102 },
    { id: 10 },
    { id: 101 },
    { id: 7, minID: 104, maxID: 104 },
  ]);
  assert.deepEqual(trunkIds(entries), [7, 10, 100, 101, 102, 104]);
  assert.deepEqual(trunkIds([]), []);
  assert.equal(trunkIds(trunk([{ minID: 1, maxID: 4094 }])).length, 4094);
});

for (const [entry, text] of [
  [{ minID: 0, maxID: 5 }, 'incorrect trunk minID parameter'],
  [{ minID: 4095, maxID: 4096 }, 'incorrect trunk minID parameter'],
  [{ minID: 5, maxID: 4095 }, 'incorrect trunk maxID parameter'],
  [{ id: 0 }, 'incorrect trunk id parameter'],
  [{ id: 4095 }, 'incorrect trunk id parameter'],
  [{ minID: 10, maxID: 5 }, 'minID is greater than maxID in trunk parameter'],
  [{ maxID: 5 }, 'minID and maxID should be configured simultaneously, minID is missing'],
  [{ minID: 5 }, 'minID and maxID should be configured simultaneously, maxID is missing'],
] as const) {
  test(`the trunk entry ${JSON.stringify(entry)} is refused, and the refusal says which it is`, () => {
    assert.throws(() => trunk([{ id: 1 }, entry]), { msg: text, cniCode: 7, pointer: '/vlanTrunk/1' });
  });
}
