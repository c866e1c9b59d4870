import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, decodeConfig } from '@heddle/cni';
import { planLab } from './plan.ts';
import { type LabSpec, labSpec, specOf } from './spec.ts';

const plan = (spec: LabSpec) => planLab(decodeConfig(labSpec, spec, { what: 'lab' }));

test('nodes are dealt out to segments, each with addresses of its segment, and pods of its own', () => {
  const { segments, nodes, etcd } = plan(specOf({ nodes: 3, topology: 'two-segments', store: 'etcd-3' }));
  assert.deepEqual(
    segments.map(({ name, mtu, gateways }) => [name, mtu, gateways.map(String)]),
    [
      ['s1', 1500, ['198.18.1.1/24', 'fd00:198:18:1::1/64']],
      ['s2', 1500, ['198.18.2.1/24', 'fd00:198:18:2::1/64']],
    ],
  );
  assert.deepEqual(
    nodes.map(({ name, segment, addresses, pods }) => [name, segment, addresses.map(String), pods]),
    [
      ['node1', 's1', ['198.18.1.11/24', 'fd00:198:18:1::b/64'], ['pod1-1']],
      ['node2', 's2', ['198.18.2.12/24', 'fd00:198:18:2::c/64'], ['pod2-1']],
      ['node3', 's1', ['198.18.1.13/24', 'fd00:198:18:1::d/64'], ['pod3-1']],
    ],
  );
  assert.deepEqual(
    etcd.map(({ name, addresses }) => [name, `${addresses[0]}`]),
    [
      ['etcd1', '198.18.1.201/24'],
      ['etcd2', '198.18.1.202/24'],
      ['etcd3', '198.18.1.203/24'],
    ],
  );
});

test('pods can have other families than nodes', () => {
  const { nodes, podFamilies } = plan(specOf({ nodes: 1, families: 'ipv6', podFamilies: 'dual' }));
  assert.deepEqual(nodes[0]?.addresses.map(String), ['fd00:198:18:1::b/64']);
  assert.deepEqual(podFamilies, [4, 6]);
});

test('a segment for each node', () => {
  const { nodes, segments } = plan(specOf({ nodes: 3, topology: 'segment-each', mtu: 9000 }));
  assert.deepEqual(
    nodes.map(({ segment }) => segment),
    ['s1', 's2', 's3'],
  );
  assert.ok(segments.every(({ mtu }) => mtu === 9000));
});

const REFUSED: readonly (readonly [spec: LabSpec, message: RegExp])[] = [
  [{ nodes: {} }, /at least one node/],
  [{ nodes: { a: { segment: 'nowhere' } } }, /node a: there is no segment nowhere/],
  [{ nodes: { pod1: { segment: 'a' } } }, /node pod1: names that begin with router, pod or etcd are taken/],
  [{ nodes: { A_b: { segment: 'a' } } }, /expected a name/],
  [{ segments: { a: { mtu: 100 } }, nodes: { n: { segment: 'a' } } }, /mtu/],
  [{ segments: { a: { loss: 2 } }, nodes: { n: { segment: 'a' } } }, /loss/],
];

for (const [spec, message] of REFUSED) {
  test(`refused: ${JSON.stringify(spec)}`, () => {
    assert.throws(
      () => plan(spec),
      (error) => error instanceof ConfigError && message.test(error.message),
    );
  });
}
