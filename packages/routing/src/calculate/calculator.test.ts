import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Affinity } from '@heddle/ipam/blocks';
import { Addr, Prefix } from '@heddle/netaddr';
import fc from 'fast-check';
import type { NodeRecord } from '../cluster/records.ts';
import { sampleNode, sampleOwn, samplePool } from '../testing/samples.ts';
import { calculate } from './calculate.ts';
import { Calculator } from './calculator.ts';
import type { DesiredObject } from './desired.ts';
import type { Borrowed } from './view.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const POOLS = [
  ['p', '10.0.0.0/16'],
  ['q', 'fd00:1::/48'],
  ['r', '10.1.0.0/16'],
] as const;

const underlay = fc.constantFrom(
  ...[['192.0.2.1/24'], ['192.0.2.2/24', 'fd00::2/64'], ['fd00::3/64'], ['198.51.100.1/24'], []],
);
const name = fc.constantFrom(...NAMES);
const pool = fc.constantFrom(...POOLS);
const block = fc.record({ pool, index: fc.nat(3) });
const step = fc.oneof(
  fc.record({
    node: name,
    underlay: fc.option(underlay, { nil: undefined }),
    mtu: fc.constantFrom(1400, 1500),
    tunnel: fc.subarray(['10.0.9.1', 'fd00:1::9']),
  }),
  fc.record({
    pool,
    encapsulation: fc.option(fc.constantFrom('never', 'always', 'cross-subnet'), { nil: undefined }),
    overlay: fc.constantFrom('vxlan', 'geneve', 'ipip'),
    natOutgoing: fc.boolean(),
  }),
  fc.record({
    affinity: block,
    of: name,
    state: fc.option(fc.constantFrom('confirmed', 'confirmed', 'pending', 'pendingDeletion'), {
      nil: undefined,
    }),
  }),
  fc.record({ borrowing: block, holders: fc.array(name, { maxLength: 2 }) }),
);

function cidrOf({ pool: [, cidr], index }: { pool: (typeof POOLS)[number]; index: number }): Prefix {
  const { network, family } = Prefix.parse(cidr);
  return Prefix.of(network.add(index * 64) ?? network, family === 4 ? 26 : 122);
}

test('step by step comes to the same as all at once, and each step tells exactly what changed', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.boolean()), { maxLength: 60 }), (steps) => {
      const nodes = new Map<string, NodeRecord>();
      const pools = new Map<string, ReturnType<typeof samplePool>>();
      const affinities = new Map<string, Affinity>();
      const borrowed = new Map<string, readonly Borrowed[]>();
      let own = sampleOwn(sampleNode('a', ['192.0.2.9/24', 'fd00::9/64']));
      const calculator = new Calculator(own);
      const seen = new Map<string, DesiredObject>();
      for (const [change, isAsked] of steps) {
        if ('node' in change) {
          const { node, underlay: at, mtu, tunnel } = change;
          const record = at && sampleNode(node, at, { mtu, tunnel });
          if (node === 'a') {
            if (record === undefined) continue;
            own = sampleOwn(record);
            calculator.setOwn(own);
          } else {
            calculator.setNode(node, record);
            if (record === undefined) nodes.delete(node);
            else nodes.set(node, record);
          }
        } else if ('encapsulation' in change) {
          const [poolName, cidr] = change.pool;
          const { encapsulation, overlay, natOutgoing } = change;
          const config = { overlay: cidr.includes(':') ? ('vxlan' as const) : overlay, natOutgoing };
          const made = encapsulation && samplePool(poolName, cidr, { encapsulation, ...config });
          calculator.setPool(poolName, made);
          if (made === undefined) pools.delete(poolName);
          else pools.set(poolName, made);
        } else if ('affinity' in change) {
          const cidr = cidrOf(change.affinity);
          const key = `${change.of} ${cidr}`;
          const { state } = change;
          const made = state && { node: change.of, pool: change.affinity.pool[0], cidr, state };
          calculator.setAffinity(key, made);
          if (made === undefined) affinities.delete(key);
          else affinities.set(key, made);
        } else {
          const cidr = cidrOf(change.borrowing);
          const some = change.holders.map((holder, index) => ({
            ...{ holder, pool: change.borrowing.pool[0] },
            addr: cidr.network.add(index) ?? Addr.ZERO4,
          }));
          calculator.setBorrowed(`${cidr}`, some);
          borrowed.set(`${cidr}`, some);
        }
        if (!isAsked) continue;
        const { put, drop } = calculator.delta();
        for (const object of drop) assert.ok(seen.delete(object.key), `${object.key} was not there`);
        for (const object of put) {
          assert.notEqual(seen.get(object.key)?.text, object.text, `${object.key} did not change`);
          seen.set(object.key, object);
        }
        const all = calculate({
          ...{ own, nodes: [...nodes.values()], pools: [...pools.values()] },
          ...{ affinities: [...affinities.values()], borrowed: [...borrowed.values()].flat() },
        });
        assert.deepEqual(texts(seen), texts(all.objects));
        assert.deepEqual(texts(calculator.state().objects), texts(all.objects));
        assert.deepEqual(new Map([...calculator.faults].sort()), new Map([...all.faults].sort()));
      }
    }),
    { numRuns: 400 },
  );
});

function texts(objects: ReadonlyMap<string, DesiredObject>): readonly string[] {
  return [...objects.values()].map(({ key, text }) => `${key}: ${text}`).sort();
}
