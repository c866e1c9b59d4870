import assert from 'node:assert/strict';
import { Addr, Mac } from '@heddle/netaddr';
import type { KernelSession } from '../../session/session.ts';
import { type Case, refused, until } from './case.ts';

const MAC = Mac.parse('0a:58:0a:01:00:02');
const LOW = Mac.parse('00:00:5e:00:53:01');

async function bridged(
  host: KernelSession,
  options: { readonly vlanFiltering?: boolean } = {},
): Promise<void> {
  await host.links.add({ name: 'hdbr', kind: 'bridge', up: true, ...options });
  await host.links.add({
    name: 'hd0',
    kind: 'veth',
    up: true,
    mac: MAC,
    master: 'hdbr',
    peer: { name: 'hd1' },
  });
  await host.links.set('hd1', { up: true });
  await until(async () => (await host.bridge.port('hd0')).state === 'forwarding');
}

/** Bridges, their ports, VLANs and forwarding entries. */
export const bridgeCases: readonly Case[] = [
  {
    name: 'a bridge has its options, at its making and later',
    async run({ host }) {
      await host.links.add({
        name: 'hdbr',
        kind: 'bridge',
        ageingTime: 5000,
        stp: true,
        multicastSnooping: false,
      });
      const data = async () => (await host.links.get('hdbr')).data;
      const made = await data();
      assert.ok(made?.kind === 'bridge');
      assert.deepEqual(
        [made.ageingTime, made.stp, made.multicastSnooping, made.helloTime, made.priority],
        [5000, true, false, 200, 32768],
      );
      await host.links.set('hdbr', { data: { kind: 'bridge', stp: false } });
      const changed = await data();
      assert.ok(changed?.kind === 'bridge' && changed.stp === false && changed.ageingTime === 5000);
    },
  },
  {
    name: 'a bridge has a carrier while a port forwards',
    async run({ host }) {
      const state = async () => (await host.links.get('hdbr')).operstate;
      await host.links.add({ name: 'hdbr', kind: 'bridge', up: true });
      // Until it has a port, nothing tells it that it has no carrier.
      await until(async () => (await state()) === 'unknown');
      await host.links.add({ name: 'hd0', kind: 'veth', up: true, master: 'hdbr', peer: { name: 'hd1' } });
      assert.equal((await host.bridge.port('hd0')).state, 'disabled');
      await until(async () => (await state()) === 'down');
      await host.links.set('hd1', { up: true });
      await until(async () => (await host.bridge.port('hd0')).state === 'forwarding');
      await until(async () => (await state()) === 'up');
      await host.bridge.setPort('hd0', { state: 'disabled' });
      await until(async () => (await state()) === 'down');
      await host.bridge.setPort('hd0', { state: 'forwarding' });
      await host.links.delete('hd0');
      await until(async () => (await state()) === 'down');
    },
  },
  {
    name: 'a bridge takes the lowest address and MTU of its ports, unless it was given its own',
    async run({ host }) {
      await host.links.add({ name: 'hdbr', kind: 'bridge' });
      const follows = async () => {
        const { mac, mtu } = await host.links.get('hdbr');
        return [`${mac}`, mtu];
      };
      await host.links.add({
        name: 'hd0',
        kind: 'veth',
        mac: MAC,
        mtu: 1400,
        master: 'hdbr',
        peer: { name: 'hd1' },
      });
      assert.deepEqual(await follows(), [`${MAC}`, 1400]);
      await host.links.add({ name: 'hd2', kind: 'veth', mac: LOW, master: 'hdbr', peer: { name: 'hd3' } });
      assert.deepEqual(await follows(), [`${LOW}`, 1400]);
      await host.links.delete('hd0');
      assert.deepEqual(await follows(), [`${LOW}`, 1500]);
      await host.links.set('hd2', { master: 0 });
      assert.deepEqual(await follows(), ['00:00:00:00:00:00', 1500]);
      await host.links.set('hdbr', { mac: MAC, mtu: 1450 });
      await host.links.set('hd2', { master: 'hdbr', mtu: 1300 });
      assert.deepEqual(await follows(), [`${MAC}`, 1450]);
    },
  },
  {
    name: 'an MTU that a bridge is made with does not outlast its first port, an address does',
    async run({ host }) {
      await host.links.add({ name: 'hdbr', kind: 'bridge', mtu: 1400, mac: MAC });
      assert.equal((await host.links.get('hdbr')).mtu, 1400);
      await host.links.add({ name: 'hd0', kind: 'veth', mac: LOW, master: 'hdbr', peer: { name: 'hd1' } });
      const { mtu, mac } = await host.links.get('hdbr');
      assert.deepEqual([mtu, `${mac}`], [1500, `${MAC}`]);
    },
  },
  {
    name: 'flags of a port, set and read; gone with the membership',
    async run({ host }) {
      await bridged(host);
      const { hairpin, isolated, learning, flood, neighSuppress } = await host.bridge.port('hd0');
      assert.deepEqual(
        [hairpin, isolated, learning, flood, neighSuppress],
        [false, false, true, true, false],
      );
      assert.equal((await host.links.get('hd0')).promiscuity, 1);
      await host.bridge.setPort('hd0', { hairpin: true, isolated: true, learning: false });
      const port = await host.bridge.port('hd0');
      assert.deepEqual([port.hairpin, port.isolated, port.learning], [true, true, false]);
      await host.links.set('hd0', { master: 0 });
      await refused(host.bridge.port('hd0'), 'ENOENT');
      await host.links.set('hd0', { master: 'hdbr' });
      assert.equal((await host.bridge.port('hd0')).hairpin, false);
    },
  },
  {
    name: 'what cannot be a port, and ports that are none',
    async run({ host }) {
      await bridged(host);
      await host.links.add({ name: 'hdbr2', kind: 'bridge' });
      const bridge = await host.links.get('hdbr');
      await refused(
        host.links.set('hdbr2', { master: 'hdbr' }),
        'ELOOP',
        'Can not enslave a bridge to a bridge',
      );
      await refused(host.links.set('hdbr', { master: 'hdbr' }), 'ELOOP');
      await refused(host.links.set('lo', { master: 'hdbr' }), 'EINVAL');
      await refused(host.links.set('hd1', { master: 4444 }), 'EINVAL');
      await refused(host.links.set('hd1', { master: 'lo' }), 'EOPNOTSUPP');
      await refused(host.bridge.setPort('hd1', { hairpin: true }), 'EOPNOTSUPP');
      await host.links.set('hd0', { up: false });
      await refused(host.bridge.setPort('hd0', { state: 'forwarding' }), 'ENETDOWN');
      assert.deepEqual(
        (await host.links.list({ master: bridge.index })).map(({ name }) => name),
        ['hd0'],
      );
      await host.links.delete('hdbr');
      assert.equal((await host.links.get('hd0')).master, undefined);
    },
  },
  {
    name: 'a link that is made with a master that refuses it is not made',
    async run({ host }) {
      await refused(
        host.links.add({ name: 'hd0', kind: 'veth', master: 'lo', peer: { name: 'hd1' } }),
        'EOPNOTSUPP',
      );
      assert.deepEqual(
        (await host.links.list()).map(({ name }) => name),
        ['lo'],
      );
    },
  },
  {
    name: 'entries of a port: its own, and those that are made',
    async run({ host }) {
      await bridged(host);
      const mac = Mac.parse('0a:58:0a:01:00:09');
      const { index, master } = await host.links.get('hd0');
      const entries = async () => (await host.bridge.fdb('hd0')).filter((each) => each.master === master);
      const own = (await entries()).find((each) => each.mac.equals(MAC) && each.vlan === undefined);
      assert.deepEqual([own?.link, own?.permanent, own?.self], [index, true, false]);
      await host.bridge.addFdb({ link: 'hd0', mac, master: true, state: 0x40, protocol: 99 });
      const made = (await entries()).find((each) => each.mac.equals(mac) && each.vlan === undefined);
      assert.deepEqual([made?.state, made?.permanent], [0x40, false]);
      await refused(host.bridge.addFdb({ link: 'hd0', mac, master: true }), 'EEXIST');
      await host.bridge.replaceFdb({ link: 'hd0', mac, master: true });
      assert.ok(
        (await host.bridge.fdb({ master: 'hdbr' })).some((each) => each.mac.equals(mac) && each.permanent),
      );
      await host.bridge.deleteFdb({ link: 'hd0', mac, master: true });
      await refused(host.bridge.deleteFdb({ link: 'hd0', mac, master: true }), 'ENOENT');
      await host.links.set('hd0', { master: 0 });
      assert.deepEqual(await entries(), []);
    },
  },
  {
    name: 'a VXLAN has an entry for each remote end',
    needs: ['vxlan'],
    async run({ host }) {
      await host.links.add({ name: 'hdvx', kind: 'vxlan', id: 42, port: 4789, learning: false, up: true });
      const [one, two] = [Addr.parse('192.0.2.2'), Addr.parse('192.0.2.3')];
      await host.bridge.addFdb({ link: 'hdvx', mac: MAC, dst: one, vni: 43 });
      await refused(host.bridge.addFdb({ link: 'hdvx', mac: MAC, dst: one }), 'EEXIST');
      await host.bridge.appendFdb({ link: 'hdvx', mac: Mac.ZERO, dst: one });
      await host.bridge.appendFdb({ link: 'hdvx', mac: Mac.ZERO, dst: two });
      const entries = await host.bridge.fdb('hdvx');
      const named = entries
        .map(({ mac, dst, vni, self }) => [`${mac}`, `${dst}`, vni, self].join(' '))
        .sort();
      assert.deepEqual(named, [
        '00:00:00:00:00:00 192.0.2.2  true',
        '00:00:00:00:00:00 192.0.2.3  true',
        `${MAC} 192.0.2.2 43 true`,
      ]);
      await host.bridge.deleteFdb({ link: 'hdvx', mac: MAC, dst: one, vni: 43 });
      assert.equal((await host.bridge.fdb('hdvx')).length, 2);
    },
  },
  {
    name: 'a port is in the default VLAN, and in those that it is put into',
    needs: ['bridge-vlan'],
    async run({ host }) {
      await bridged(host, { vlanFiltering: true });
      const one = { id: 1, pvid: true, untagged: true };
      assert.deepEqual(await host.bridge.vlans('hd0'), [one]);
      assert.deepEqual(await host.bridge.vlans('hdbr'), [one]);
      await host.bridge.addVlan('hd0', { id: 100, pvid: true, untagged: true });
      await host.bridge.addVlan('hd0', { id: 200, lastId: 201 });
      assert.deepEqual(await host.bridge.vlans('hd0'), [
        { ...one, pvid: false },
        { id: 100, pvid: true, untagged: true },
        { id: 200, pvid: false, untagged: false },
        { id: 201, pvid: false, untagged: false },
      ]);
      await host.bridge.deleteVlan('hd0', { id: 200, lastId: 201 });
      await host.bridge.deleteVlan('hd0', { id: 1 });
      await host.bridge.deleteVlan('hd0', { id: 999 });
      assert.deepEqual(await host.bridge.vlans('hd0'), [{ id: 100, pvid: true, untagged: true }]);
      await host.bridge.addVlan('hdbr', { id: 100, self: true });
      assert.ok((await host.bridge.vlans('hdbr')).some(({ id }) => id === 100));
      await refused(host.bridge.addVlan('hd0', { id: 4095 }), 'EINVAL');
      await refused(host.bridge.addVlan('hd1', { id: 7 }), 'EOPNOTSUPP');
      await refused(host.bridge.addVlan('hd0', { id: 7, self: true }), 'EOPNOTSUPP');
    },
  },
  {
    name: 'without a default VLAN, a port is in none',
    needs: ['bridge-vlan'],
    async run({ host }) {
      await bridged(host, { vlanFiltering: true });
      await host.links.set('hdbr', { data: { kind: 'bridge', defaultVlan: 0 } });
      assert.deepEqual(await host.bridge.vlans('hd0'), []);
      await host.links.add({ name: 'hd2', kind: 'veth', master: 'hdbr', peer: { name: 'hd3' } });
      assert.deepEqual(await host.bridge.vlans('hd2'), []);
    },
  },
];
