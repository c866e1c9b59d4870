import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Affinity, Pool } from '@heddle/ipam/blocks';
import { Addr, Prefix } from '@heddle/netaddr';
import { tunnelMac } from '../cluster/tunnel.ts';
import { sampleNode, sampleOwn, samplePool } from '../testing/samples.ts';
import { calculate } from './calculate.ts';
import { overheadOf, podMtu } from './overlays.ts';
import type { ClusterView } from './view.ts';

const OWN = sampleNode('a', ['192.0.2.1/24', 'fd00::1/64'], { tunnel: ['10.244.0.0', 'fd00:10:244::'] });
const PEER = sampleNode('b', ['192.0.2.2/24', 'fd00::2/64'], { tunnel: ['10.244.0.64', 'fd00:10:244::40'] });
const FAR = sampleNode('c', ['198.51.100.3/24'], { tunnel: ['10.244.0.128'] });

function affinity(node: string, cidr: string, state: Affinity['state'] = 'confirmed'): Affinity {
  const prefix = Prefix.parse(cidr);
  return { node, pool: `v${prefix.family}`, cidr: prefix, state };
}

function pools(encapsulation: Pool['encapsulation'], overlay: Pool['overlay'] = 'vxlan'): readonly Pool[] {
  const v6 = { encapsulation: overlay === 'ipip' ? ('never' as const) : encapsulation, overlay };
  return [
    samplePool('v4', '10.244.0.0/16', { encapsulation, overlay }),
    samplePool('v6', 'fd00:10:244::/48', overlay === 'ipip' ? {} : v6),
  ];
}

/** What is desired, a line for each object. */
function lines(view: Partial<ClusterView>): readonly string[] {
  const { objects, faults } = calculate({
    ...{ own: sampleOwn(OWN), nodes: [PEER, FAR], pools: [], affinities: [], borrowed: [] },
    ...view,
  });
  const texts = [...objects.values()].map(({ key, text }) => `${key} ${text}`.trim());
  return [...texts, ...[...faults].map(([who, why]) => `${who}: ${why}`)];
}

const BLOCKS = [
  affinity('a', '10.244.0.0/26'),
  affinity('b', '10.244.0.64/26'),
  affinity('c', '10.244.0.128/26'),
];

test('VXLAN: a device, and for each peer one neighbour, one forwarding entry and one route a block', () => {
  assert.deepEqual(
    lines({ pools: pools('always'), affinities: BLOCKS }).filter((line) => !line.startsWith('sysctl')),
    [
      `link heddle-vxlan kind vxlan local 192.0.2.1 mac ${tunnelMac('a')} mtu 1450`,
      'address heddle-vxlan 10.244.0.0',
      'address heddle-vxlan fd00:10:244::',
      'route 10.244.0.0/26 blackhole',
      'sources',
      'forward 10.244.0.0/16 fd00:10:244::/48',
      `neighbour heddle-vxlan 10.244.0.64 ${tunnelMac('b')}`,
      `fdb heddle-vxlan ${tunnelMac('b')} 192.0.2.2`,
      'route 10.244.0.64/26 via 10.244.0.64 dev heddle-vxlan',
      `neighbour heddle-vxlan 10.244.0.128 ${tunnelMac('c')}`,
      `fdb heddle-vxlan ${tunnelMac('c')} 198.51.100.3`,
      'route 10.244.0.128/26 via 10.244.0.128 dev heddle-vxlan',
    ],
  );
});

test('cross-subnet: direct on the same segment, wrapped to others', () => {
  const routes = lines({ pools: pools('cross-subnet'), affinities: BLOCKS }).filter((line) =>
    line.startsWith('route'),
  );
  assert.deepEqual(routes, [
    'route 10.244.0.0/26 blackhole',
    'route 10.244.0.64/26 via 192.0.2.2 dev #2',
    'route 10.244.0.128/26 via 10.244.0.128 dev heddle-vxlan',
  ]);
});

test('never: direct on the same segment; what is beyond is left to routers, and told', () => {
  const found = lines({ pools: pools('never'), affinities: BLOCKS }).filter(
    (line) => !/^(sysctl|sources|forward)/.test(line),
  );
  assert.deepEqual(found.slice(0, 2), [
    'route 10.244.0.0/26 blackhole',
    'route 10.244.0.64/26 via 192.0.2.2 dev #2',
  ]);
  assert.match(
    found[2] ?? '',
    /^node c: it shares no segment with this node, and pool v4 is never encapsulated/,
  );
  assert.equal(found.length, 3);
});

test('only confirmed blocks are routed', () => {
  const affinities = [
    affinity('b', '10.244.0.64/26', 'pending'),
    affinity('b', '10.244.1.0/26', 'pendingDeletion'),
    affinity('a', '10.244.2.0/26', 'pendingDeletion'),
  ];
  assert.deepEqual(
    lines({ pools: pools('always'), affinities }).filter((line) => /^(route|fdb|neigh)/.test(line)),
    [],
  );
});

test('an address that a node borrowed leads to that node', () => {
  const borrowed = [
    { addr: Addr.parse('10.244.0.7'), pool: 'v4', holder: 'b' },
    { addr: Addr.parse('10.244.0.70'), pool: 'v4', holder: 'a' },
  ];
  const routes = lines({ pools: pools('always'), affinities: BLOCKS, borrowed }).filter((l) =>
    /^route/.test(l),
  );
  assert.ok(routes.includes('route 10.244.0.7/32 via 10.244.0.64 dev heddle-vxlan'));
  assert.ok(!routes.some((line) => line.includes('10.244.0.70/32')));
});

test('a peer that has only IPv6 between nodes gets a device of its own', () => {
  const v6 = sampleNode('d', ['fd00:0:0:9::4/64'], { tunnel: ['10.244.0.192'] });
  const found = lines({
    nodes: [PEER, v6],
    pools: pools('always'),
    affinities: [affinity('d', '10.244.0.192/26')],
  });
  assert.ok(found.includes(`link heddle-vxlan6 kind vxlan local fd00::1 mac ${tunnelMac('a')} mtu 1430`));
  assert.ok(found.includes(`fdb heddle-vxlan6 ${tunnelMac('d')} fd00:0:0:9::4`));
  assert.ok(found.includes('route 10.244.0.192/26 via 10.244.0.192 dev heddle-vxlan6'));
});

test('IPv4 goes over a segment that has only IPv6, by the routers that RFC 5549 is about', () => {
  const [own, peer] = [sampleNode('a', ['fd00::1/64']), sampleNode('b', ['fd00::2/64'])];
  const found = lines({
    own: sampleOwn(own),
    nodes: [peer],
    pools: pools('never'),
    affinities: BLOCKS.slice(1, 2),
  });
  assert.ok(found.includes('route 10.244.0.64/26 via fd00::2 dev #2'));
});

test('Geneve and IP-in-IP', () => {
  const geneve = lines({ nodes: [PEER], pools: pools('always', 'geneve'), affinities: BLOCKS.slice(1, 2) });
  assert.ok(geneve.includes(`link heddle-geneve kind geneve mac ${tunnelMac('a')} mtu 1450`));
  assert.ok(
    geneve.includes('route 10.244.0.64/26 via 10.244.0.64 dev heddle-geneve from 192.0.2.1 to 192.0.2.2'),
  );
  const ipip = lines({ nodes: [PEER], pools: pools('always', 'ipip'), affinities: BLOCKS.slice(1, 2) });
  assert.ok(ipip.includes('link heddle-ipip kind ipip local 192.0.2.1 mtu 1480'));
  assert.ok(ipip.includes('route 10.244.0.64/26 via 192.0.2.2 dev heddle-ipip'));
  assert.ok(!ipip.some((line) => /^(fdb|neighbour)/.test(line)));
});

test('a peer with a smaller MTU gets packets of its size', () => {
  const small = sampleNode('b', ['192.0.2.2/24'], { mtu: 1400, tunnel: ['10.244.0.64'] });
  const found = (encapsulation: Pool['encapsulation']) =>
    lines({ nodes: [small], pools: pools(encapsulation), affinities: BLOCKS.slice(1, 2) });
  assert.ok(found('always').includes('route 10.244.0.64/26 via 10.244.0.64 dev heddle-vxlan mtu 1350'));
  assert.ok(found('never').includes('route 10.244.0.64/26 via 192.0.2.2 dev #2 mtu 1400'));
});

test('what leaves the cluster is translated, if its pool says so', () => {
  const some = [samplePool('v4', '10.244.0.0/16', { natOutgoing: true }), samplePool('w4', '10.245.0.0/16')];
  assert.ok(lines({ pools: some }).includes('nat 10.244.0.0/16 10.245.0.0/16 out 10.244.0.0/16'));
  assert.ok(!lines({ pools: some.slice(1) }).some((line) => line.startsWith('nat')));
});

test('pods are let through, and heard under their own addresses only, where there are pools', () => {
  const found = lines({ pools: pools('never') });
  assert.ok(found.includes('forward 10.244.0.0/16 fd00:10:244::/48'));
  assert.ok(found.includes('sources'));
  assert.ok(!lines({}).some((line) => /^(forward|sources)/.test(line)));
});

test('nodes that say that they have the same address are told of, whether this one is among them or not', () => {
  const found = lines({
    nodes: [
      sampleNode('b', ['192.0.2.1/24']),
      sampleNode('c', ['192.0.2.3/24']),
      sampleNode('d', ['192.0.2.3/24']),
    ],
  });
  assert.deepEqual(
    found.filter((line) => line.startsWith('node')),
    [
      'node b: it has the address 192.0.2.1 between nodes, and so has this node',
      'node c: it has the address 192.0.2.3 between nodes, and so has node d',
      'node d: it has the address 192.0.2.3 between nodes, and so has node c',
    ],
  );
});

test('what overlays cost', () => {
  const rows = [
    ['vxlan', 4, 50],
    ['vxlan', 6, 70],
    ['geneve', 4, 50],
    ['geneve', 6, 70],
    ['ipip', 4, 20],
  ] as const;
  for (const [overlay, family, bytes] of rows) assert.equal(overheadOf(overlay, family), bytes);
  const mtu = (underlay: number, encapsulation: Pool['encapsulation'], of = ['192.0.2.1/24']) =>
    podMtu(sampleNode('a', of, { mtu: underlay }), { encapsulation, overlay: 'vxlan' });
  assert.equal(mtu(1500, 'always'), 1450);
  assert.equal(mtu(9000, 'cross-subnet'), 8950);
  assert.equal(mtu(1400, 'always', ['fd00::1/64']), 1330);
  assert.equal(mtu(1500, 'never'), 1500);
});
