import assert from 'node:assert/strict';
import { Mac, Prefix } from '@heddle/netaddr';
import { type Case, pair, refused, until } from './case.ts';

const MAC = Mac.parse('0a:58:0a:01:00:02');
const LOWER_MAC = Mac.parse('00:00:5e:00:53:01');

/** What is particular to kinds of links. */
export const linkKindCases: readonly Case[] = [
  {
    name: 'a macvlan follows what it sits on',
    needs: ['macvlan'],
    async run({ host, pod }) {
      await host.links.add({ name: 'hd0', kind: 'veth', mtu: 1400, peer: { name: 'hd1' } });
      const parent = await host.links.get('hd0');
      await host.links.add({
        name: 'eth0',
        kind: 'macvlan',
        parent: 'hd0',
        mode: 'bridge',
        mac: MAC,
        netns: pod.handle,
      });
      const link = await pod.links.get('eth0');
      assert.deepEqual([link.parent, link.mtu, `${link.mac}`], [parent.index, 1400, `${MAC}`]);
      assert.ok(link.data?.kind === 'macvlan' && link.data.mode === 'bridge');
      await pod.links.set('eth0', { up: true });
      await until(async () => !(await pod.links.get('eth0')).running);
      await host.links.set('hd0', { up: true });
      await host.links.set('hd1', { up: true });
      await until(async () => (await pod.links.get('eth0')).operstate === 'up');
      await refused(pod.links.set('eth0', { mtu: 1401 }), 'EINVAL');
      await refused(host.links.add({ name: 'hd5', kind: 'macvlan', parent: 'lo', mode: 'bridge' }), 'EINVAL');
      await host.links.add({ name: 'hdbr', kind: 'bridge' });
      await refused(host.links.set('hd0', { master: 'hdbr' }), 'EBUSY');
      await host.links.delete('hd0');
      assert.equal(await pod.links.find('eth0'), undefined);
    },
  },
  {
    name: 'one VXLAN for an identifier and port, with room for its headers',
    needs: ['vxlan'],
    async run({ host }) {
      await host.links.add({ name: 'hd0', kind: 'veth', mtu: 1450, peer: { name: 'hd1' } });
      await host.links.add({ name: 'hdvx', kind: 'vxlan', id: 42, port: 4789, parent: 'hd0' });
      const link = await host.links.get('hdvx');
      assert.ok(link.data?.kind === 'vxlan');
      assert.deepEqual([link.mtu, link.data.id, link.data.port, link.data.learning], [1400, 42, 4789, true]);
      const again = { name: 'hdvy', kind: 'vxlan', id: 42, port: 4789 } as const;
      await refused(host.links.add(again), 'EEXIST', 'A VXLAN device with the specified VNI already exists');
      await host.links.add({ ...again, port: 8472 });
      await host.links.delete('hd0');
      assert.equal(await host.links.find('hdvx'), undefined);
    },
  },
  {
    name: 'a VLAN has the address of what it sits on, and there is but one of a number',
    needs: ['vlan'],
    async run({ host }) {
      await host.links.add({ name: 'hd0', kind: 'veth', mac: LOWER_MAC, peer: { name: 'hd1' } });
      await host.links.add({ name: 'hd0.7', kind: 'vlan', parent: 'hd0', id: 7 });
      const link = await host.links.get('hd0.7');
      assert.deepEqual([`${link.mac}`, link.mtu], [`${LOWER_MAC}`, 1500]);
      assert.ok(link.data?.kind === 'vlan' && link.data.id === 7 && link.data.protocol === '802.1q');
      await refused(
        host.links.add({ name: 'hd9', kind: 'vlan', parent: 'hd0', id: 7 }),
        'EEXIST',
        '8021q: VLAN device already exists',
      );
    },
  },
  {
    name: 'a VLAN is not larger than what it sits on, and has its carrier',
    needs: ['vlan'],
    async run({ host }) {
      await host.links.add({ name: 'hd0', kind: 'veth', mtu: 1400, peer: { name: 'hd1' } });
      await refused(
        host.links.add({ name: 'hd0.7', kind: 'vlan', parent: 'hd0', id: 7, mtu: 1500 }),
        'EINVAL',
      );
      await host.links.add({ name: 'hd0.7', kind: 'vlan', parent: 'hd0', id: 7 });
      await refused(host.links.set('hd0.7', { mtu: 1401 }), 'ERANGE');
      await refused(
        host.links.add({ name: 'hd9', kind: 'vlan', parent: 'hd0', id: 4095 }),
        'ERANGE',
        '8021q: Invalid VLAN id',
      );
      await refused(host.links.set('hd0.7', { up: true }), 'ENETDOWN');
      await host.links.set('hd0', { up: true });
      await host.links.set('hd1', { up: true });
      await host.links.set('hd0.7', { up: true });
      await until(async () => (await host.links.get('hd0.7')).operstate === 'up');
      await host.links.delete('hd0');
      assert.equal(await host.links.find('hd0.7'), undefined);
    },
  },
  {
    name: 'an ipvlan shares the address of what it sits on, which then takes no macvlan',
    needs: ['ipvlan', 'macvlan'],
    async run({ host, pod }) {
      await host.links.add({ name: 'hd0', kind: 'veth', up: true, mac: LOWER_MAC, peer: { name: 'hd1' } });
      await host.links.add({ name: 'eth0', kind: 'ipvlan', parent: 'hd0', mode: 'l2', netns: pod.handle });
      const { mac, mtu, data, parent } = await pod.links.get('eth0');
      assert.deepEqual([`${mac}`, mtu, parent], [`${LOWER_MAC}`, 1500, (await host.links.get('hd0')).index]);
      assert.ok(data?.kind === 'ipvlan' && data.mode === 'l2');
      await refused(host.links.add({ name: 'hd9', kind: 'macvlan', parent: 'hd0', mode: 'bridge' }), 'EBUSY');
    },
  },
  {
    name: 'a dummy is there for its addresses',
    needs: ['dummy'],
    async run({ host }) {
      await host.links.add({ name: 'hd0', kind: 'dummy', up: true, mtu: 9000 });
      const { running, operstate, mtu, flags } = await host.links.get('hd0');
      assert.deepEqual([running, operstate, mtu], [true, 'unknown', 9000]);
      assert.equal(flags & 0x80, 0x80, 'it does not ask for neighbours');
    },
  },
  {
    name: 'what is in a VRF has its routes in the table of the VRF',
    needs: ['vrf'],
    async run({ host }) {
      const prefix = Prefix.parse('10.0.0.1/24');
      const tables = async () => {
        const { index } = await host.links.get('hd0');
        const routes = await host.routes.list({ family: 4, link: index });
        return routes.map(({ dst, table }) => `${dst} ${table}`);
      };
      await host.links.add({ name: 'hdvrf', kind: 'vrf', table: 77, up: true });
      await pair(host);
      await host.addresses.add({ link: 'hd0', prefix });
      assert.deepEqual(await tables(), ['10.0.0.0/24 254', '10.0.0.1/32 255', '10.0.0.255/32 255']);
      await host.links.set('hd0', { master: 'hdvrf' });
      const inside = ['10.0.0.0/24 77', '10.0.0.1/32 77', '10.0.0.255/32 77'];
      await until(async () => (await tables()).join() === inside.join());
      await host.links.set('hd0', { master: 0 });
      await until(
        async () => (await tables()).length === 3 && !(await tables()).some((each) => each.endsWith('77')),
      );
      await refused(host.links.add({ name: 'hd9', kind: 'vrf', table: 0 }), 'EINVAL', 'Invalid VRF table id');
    },
  },
  {
    name: 'links that always have a carrier',
    needs: ['ifb'],
    async run({ host }) {
      await host.links.add({ name: 'hd0', kind: 'ifb', up: true, mtu: 1400, txQueueLength: 0 });
      const { up, running, operstate, mtu, txQueueLength } = await host.links.get('hd0');
      assert.deepEqual([up, running, operstate, mtu, txQueueLength], [true, true, 'unknown', 1400, 0]);
    },
  },
  {
    name: 'a kind that no kernel knows is EOPNOTSUPP',
    async run({ host }) {
      const spec = { name: 'hd0', kind: 'no-such-kind' } as unknown as Parameters<typeof host.links.add>[0];
      await refused(host.links.add(spec), 'EOPNOTSUPP', 'Unknown device type');
    },
  },
];
