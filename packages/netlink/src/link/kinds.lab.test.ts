/** Links of the kinds that a small kernel lacks: what is made, what `ip` sees of it, and what is read back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr } from '@heddle/netaddr';
import { TestNetns } from '../testing/test-netns.ts';
import type { LinkSpec } from './changes.ts';

type Made = LinkSpec extends infer Each ? (Each extends LinkSpec ? Omit<Each, 'name'> : never) : never;

const KINDS: readonly (readonly [what: string, spec: Made, seenByIp: Readonly<Record<string, unknown>>])[] = [
  ['a dummy', { kind: 'dummy' }, {}],
  ['a VLAN', { kind: 'vlan', parent: 'hd0', id: 100 }, { protocol: '802.1Q', id: 100 }],
  [
    'a service VLAN',
    { kind: 'vlan', parent: 'hd0', id: 4094, protocol: '802.1ad' },
    { protocol: '802.1ad', id: 4094 },
  ],
  ['an ipvlan on layer 2', { kind: 'ipvlan', parent: 'hd0', mode: 'l2' }, { mode: 'l2', bridge: true }],
  [
    'an ipvlan on layer 3',
    { kind: 'ipvlan', parent: 'hd0', mode: 'l3', flags: 1 },
    { mode: 'l3', private: true },
  ],
  [
    'an ipvlan on layer 3 with netfilter',
    { kind: 'ipvlan', parent: 'hd0', mode: 'l3s', flags: 2 },
    { mode: 'l3s', vepa: true },
  ],
  ['a macvtap', { kind: 'macvtap', parent: 'hd0', mode: 'vepa' }, { mode: 'vepa' }],
  ['a VRF', { kind: 'vrf', table: 1000 }, { table: 1000 }],
  [
    'a Geneve interface',
    { kind: 'geneve', id: 42, remote: Addr.parse('192.0.2.2'), port: 6082 },
    { id: 42, remote: '192.0.2.2', port: 6082 },
  ],
  [
    'a Geneve interface over IPv6',
    { kind: 'geneve', id: 42, remote: Addr.parse('2001:db8::2') },
    { id: 42, remote6: '2001:db8::2' },
  ],
  ['a Geneve interface whose tunnels routes choose', { kind: 'geneve', external: true }, { external: true }],
  ['a WireGuard interface', { kind: 'wireguard' }, {}],
  [
    'a bridge that filters VLANs',
    { kind: 'bridge', vlanFiltering: true, defaultVlan: 7 },
    { vlan_filtering: 1, vlan_default_pvid: 7 },
  ],
];

for (const [what, spec, seenByIp] of KINDS) {
  test(`${what} is as it was asked for`, async () => {
    using lab = new TestNetns();
    const { links } = lab.session;
    await links.add({ name: 'hd0', kind: 'veth', peer: { name: 'hd1' } });
    await links.add({ ...spec, name: 'hdx' });
    const shown = infoOf(lab, 'hdx');
    assert.equal(shown.info_kind, spec.kind);
    for (const [name, value] of Object.entries(seenByIp))
      assert.deepEqual(shown.info_data?.[name], value, name);
    const link = await links.get('hdx');
    assert.equal(link.kind, spec.kind);
    const { kind, parent, ...wanted } = { parent: undefined, ...spec };
    for (const [name, value] of Object.entries(wanted)) {
      assert.deepEqual((link.data as Record<string, unknown> | undefined)?.[name], value, name);
    }
    if (parent !== undefined) assert.equal(link.parent, (await links.get('hd0')).index);
    assert.deepEqual(
      (await links.list({ kind })).map(({ name }) => name),
      ['hdx'],
    );
    await links.delete('hdx');
    assert.equal(await links.find('hdx'), undefined);
  });
}

test('a VLAN made straight in another namespace', async () => {
  using host = new TestNetns();
  using pod = new TestNetns();
  await host.session.links.add({ name: 'hd0', kind: 'dummy', up: true });
  await host.session.links.add({ name: 'eth0', kind: 'vlan', parent: 'hd0', id: 5, netns: pod.handle });
  const link = await pod.session.links.get('eth0');
  assert.equal(link.data?.kind === 'vlan' && link.data.id, 5);
  assert.notEqual(link.parentNetnsId, undefined);
  assert.equal(await host.session.links.find('eth0'), undefined);
});

test('a link moves into a VRF, and its routes with it', async () => {
  using lab = new TestNetns();
  const { links, routes } = lab.session;
  await links.add({ name: 'hd0', kind: 'dummy', up: true });
  lab.run('ip', 'address', 'add', '10.1.2.3/24', 'dev', 'hd0');
  await links.add({ name: 'hdvrf', kind: 'vrf', table: 1000, up: true });
  await links.set('hd0', { master: (await links.get('hdvrf')).index });
  const moved = (await routes.list({ table: 1000, family: 4 })).filter(({ type }) => type === 'unicast');
  assert.deepEqual(
    moved.map(({ dst }) => `${dst}`),
    ['10.1.2.0/24'],
  );
});

interface LinkInfo {
  readonly info_kind?: string;
  readonly info_data?: Record<string, unknown>;
}

function infoOf(lab: TestNetns, name: string): LinkInfo {
  const [link] = lab.json('ip', '-d', '-j', 'link', 'show', name);
  return (link?.['linkinfo'] ?? {}) as LinkInfo;
}
