import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseNetworkList } from '@heddle/cni';
import { Prefix } from '@heddle/netaddr';
import { PLUGINS } from '@heddle/plugins';
import { chooseSubnets, firstNetwork } from './first-network.ts';

const random = (count: number) => new Uint8Array(count).fill(0xab);
const prefixes = (...texts: readonly string[]) => texts.map((text) => Prefix.parse(text));

describe('the first network', () => {
  test('is a valid one, of plugins that are installed with it', () => {
    const list = parseNetworkList(
      new TextEncoder().encode(firstNetwork(prefixes('10.90.0.0/16', 'fdab::/64'))),
    );
    assert.equal(list.cniVersion, '1.1.0');
    for (const { type, ipamType } of list.plugins) {
      assert.ok(PLUGINS.has(type), type);
      if (ipamType !== undefined) assert.ok(PLUGINS.has(ipamType), ipamType);
    }
  });

  test('has a range and a way out for each family that it has', () => {
    const { plugins } = JSON.parse(firstNetwork(prefixes('fdab::/64')));
    assert.deepEqual(plugins[0].ipam, {
      type: 'host-local',
      ranges: [[{ subnet: 'fdab::/64' }]],
      routes: [{ dst: '::/0' }],
    });
  });

  test('takes addresses that this node has no route into', () => {
    const chosen = (...taken: readonly string[]) => chooseSubnets(prefixes(...taken), random).map(String);
    assert.deepEqual(chosen(), ['10.90.0.0/16', 'fdab:abab:abab::/64']);
    assert.deepEqual(chosen('10.90.3.0/24', '10.91.0.0/16'), ['10.92.0.0/16', 'fdab:abab:abab::/64']);
    assert.deepEqual(chosen('10.0.0.0/8'), ['172.20.0.0/16', 'fdab:abab:abab::/64']);
    assert.deepEqual(chosen('10.0.0.0/8', '172.16.0.0/12'), ['fdab:abab:abab::/64']);
  });
});
