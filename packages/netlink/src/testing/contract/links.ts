import assert from 'node:assert/strict';
import { Mac } from '@heddle/netaddr';
import { encode } from '@heddle/wire';
import { NLM_F } from '../../core/header.ts';
import { RTM } from '../../core/rtm.ts';
import { linkMessage } from '../../link/codec.ts';
import { type Case, pair, refused, until } from './case.ts';

const MAC = Mac.parse('0a:58:0a:01:00:02');
const _LOWER_MAC = Mac.parse('00:00:5e:00:53:01');
const IFF = { UP: 0x1, BROADCAST: 0x2, LOOPBACK: 0x8, RUNNING: 0x40, MULTICAST: 0x1000, LOWER_UP: 0x10000 };

/** Links of any kind: making, changing, moving and deleting them. */
export const linkCases: readonly Case[] = [
  {
    name: 'a fresh namespace has its loopback, down',
    async run({ host }) {
      const [lo, ...others] = await host.links.list();
      assert.deepEqual(others, []);
      const { index, name, type, mtu, flags, operstate, mac, kind } = lo ?? assert.fail();
      assert.deepEqual(
        { index, name, type, mtu, flags, operstate, mac: `${mac}`, kind },
        {
          ...{ index: 1, name: 'lo', type: 772, mtu: 65536, flags: IFF.LOOPBACK, operstate: 'down' },
          ...{ mac: '00:00:00:00:00:00', kind: undefined },
        },
      );
    },
  },
  {
    name: 'both ends of a veth get their indexes, the other end first',
    async run({ host }) {
      await host.links.add({ name: 'hd0', kind: 'veth', peer: { name: 'hd1' } });
      const [hd0, hd1] = [await host.links.get('hd0'), await host.links.get('hd1')];
      assert.deepEqual([hd1.index, hd0.index], [2, 3]);
      assert.deepEqual([hd0.parent, hd1.parent, hd0.parentNetnsId], [2, 3, undefined]);
      assert.deepEqual([hd0.mtu, hd0.txQueueLength, hd0.group, hd0.promiscuity], [1500, 1000, 0, 0]);
      assert.equal(hd0.flags, IFF.BROADCAST | IFF.MULTICAST);
      assert.ok(hd0.mac !== undefined && hd1.mac !== undefined && !hd0.mac.equals(hd1.mac));
    },
  },
  {
    name: 'a veth goes up with its other end, down with it, and says why',
    async run({ host }) {
      await host.links.add({ name: 'hd0', kind: 'veth', up: true, peer: { name: 'hd1' } });
      const state = async (name: string) => (await host.links.get(name)).operstate;
      await until(async () => (await state('hd0')) === 'lowerlayerdown');
      assert.equal(await state('hd1'), 'down');
      const waiting = await host.links.get('hd0');
      assert.deepEqual([waiting.up, waiting.running], [true, false]);
      await host.links.set('hd1', { up: true });
      await until(async () => (await state('hd0')) === 'up' && (await state('hd1')) === 'up');
      const { flags, running } = await host.links.get('hd0');
      assert.equal(flags, IFF.UP | IFF.BROADCAST | IFF.RUNNING | IFF.MULTICAST | IFF.LOWER_UP);
      assert.equal(running, true);
      await host.links.set('hd1', { up: false });
      await until(async () => (await state('hd0')) === 'lowerlayerdown');
    },
  },
  {
    name: 'a pair across namespaces: each end names the other by index and namespace',
    async run({ host, pod }) {
      await host.links.add({
        name: 'hd0',
        kind: 'veth',
        peer: { name: 'eth0', mac: MAC, mtu: 1400, netns: pod.handle },
      });
      const [hd0, eth0] = [await host.links.get('hd0'), await pod.links.get('eth0')];
      assert.deepEqual([hd0.parent, eth0.parent], [eth0.index, hd0.index]);
      assert.deepEqual([hd0.parentNetnsId, eth0.parentNetnsId], [0, 0]);
      assert.deepEqual([`${eth0.mac}`, eth0.mtu], [`${MAC}`, 1400]);
      await pod.links.delete('eth0');
      assert.equal(await host.links.find('hd0'), undefined);
    },
  },
  {
    name: 'the other end is made where the request was, even if the link is not',
    async run({ host, pod }) {
      await host.links.add({ name: 'eth0', kind: 'veth', netns: pod.handle, peer: { name: 'hd0' } });
      assert.equal((await host.links.get('hd0')).kind, 'veth');
      assert.equal((await pod.links.get('eth0')).kind, 'veth');
    },
  },
  {
    name: 'a name that is taken is EEXIST, on either side, and nothing is left',
    async run({ host, pod }) {
      await host.links.add({ name: 'hd0', kind: 'bridge' });
      await pod.links.add({ name: 'eth0', kind: 'bridge' });
      const peer = { name: 'eth0', netns: pod.handle };
      await refused(host.links.add({ name: 'hd0', kind: 'veth', peer }), 'EEXIST');
      await refused(host.links.add({ name: 'hd1', kind: 'veth', peer }), 'EEXIST');
      await refused(host.links.add({ name: 'hd1', kind: 'veth', peer: { name: 'hd1' } }), 'EEXIST');
      await refused(host.links.add({ name: 'eth0', kind: 'bridge', netns: pod.handle }), 'EEXIST');
      assert.deepEqual(
        (await host.links.list()).map(({ name }) => name),
        ['lo', 'hd0'],
      );
      assert.deepEqual(
        (await pod.links.list()).map(({ name }) => name),
        ['lo', 'eth0'],
      );
    },
  },
  {
    name: 'what is not there is ENODEV',
    async run({ host }) {
      await refused(host.links.get('hd9'), 'ENODEV');
      await refused(host.links.get(99), 'ENODEV');
      await refused(host.links.set(99, { up: true }), 'ENODEV');
      await refused(host.links.delete('hd9'), 'ENODEV');
      await refused(host.links.delete(99), 'ENODEV');
      await refused(host.links.deleteGroup(99), 'ENODEV');
      await refused(host.links.delete('lo'), 'EOPNOTSUPP');
    },
  },
  {
    name: 'names that are none, MACs that are none, MTUs out of bounds',
    async run({ host }) {
      await refused(host.links.add({ name: 'a/b', kind: 'bridge' }), 'EINVAL');
      await refused(
        host.links.add({ name: 'hd0', kind: 'bridge', mac: Mac.parse('01:00:00:00:00:01') }),
        'EADDRNOTAVAIL',
      );
      await refused(host.links.add({ name: 'hd0', kind: 'bridge', mac: Mac.ZERO }), 'EADDRNOTAVAIL');
      await refused(host.links.add({ name: 'hd0', kind: 'veth', mtu: 20, peer: { name: 'hd1' } }), 'EINVAL');
      await refused(host.links.add({ name: 'hd0', kind: 'veth', peer: { name: 'hd1', mtu: 20 } }), 'EINVAL');
      await pair(host);
      await refused(host.links.set('hd0', { mtu: 67 }), 'EINVAL', 'mtu less than device minimum');
      await refused(host.links.set('hd0', { mtu: 65536 }), 'EINVAL', 'mtu greater than device maximum');
      await refused(host.links.set('hd0', { mac: Mac.parse('01:00:00:00:00:01') }), 'EADDRNOTAVAIL');
      await refused(host.links.set('hd0', { name: 'hd1' }), 'EEXIST');
      await refused(host.links.set('hd0', { name: 'a b' }), 'EINVAL');
      await host.links.set('hd0', { mtu: 65535 });
    },
  },
  {
    name: 'everything about a link is changed with one message, and back',
    async run({ host }) {
      await pair(host);
      const { index } = await host.links.get('hd0');
      await host.links.set('hd0', {
        ...{ name: 'hdx', mac: MAC, mtu: 1300, alias: 'who: me', group: 5, txQueueLength: 7 },
        ...{ promiscuous: true, allmulti: true, up: false },
      });
      const link = await host.links.get('hdx');
      assert.deepEqual(
        [
          link.index,
          `${link.mac}`,
          link.mtu,
          link.alias,
          link.group,
          link.txQueueLength,
          link.promiscuity,
          link.allmulti,
          link.up,
        ],
        [index, `${MAC}`, 1300, 'who: me', 5, 7, 1, true, false],
      );
      await host.links.set('hdx', { alias: '', promiscuous: false, allmulti: false });
      const plain = await host.links.get('hdx');
      assert.deepEqual([plain.alias, plain.promiscuity, plain.allmulti], [undefined, 0, false]);
      await refused(host.links.set('hdx', { alias: 'x'.repeat(256) }), 'ERANGE');
    },
  },
  {
    name: 'a link may have other names, which no other link can have then',
    async run({ host }) {
      const name = 'a-rather-long-name-for-a-link';
      const change = (type: number, altNames: readonly string[]) => async () => {
        const { index } = await host.links.get('hd0');
        const body = encode(linkMessage, { index, attributes: { propertyList: { altNames } } });
        const flags = type === RTM.NEWLINKPROP ? NLM_F.CREATE | NLM_F.EXCL | NLM_F.APPEND : 0;
        return { type, flags, operation: 'change other names', body };
      };
      await host.links.add({ name: 'hd0', kind: 'bridge' });
      await host.batch([change(RTM.NEWLINKPROP, [name, 'hd1'])]);
      assert.deepEqual((await host.links.get(name)).altNames, [name, 'hd1']);
      await refused(host.links.add({ name: 'hd1', kind: 'bridge' }), 'EEXIST');
      await refused(host.batch([change(RTM.NEWLINKPROP, [name])]), 'EEXIST');
      await host.batch([change(RTM.DELLINKPROP, ['hd1'])]);
      await refused(host.batch([change(RTM.DELLINKPROP, ['hd1'])]), 'ENOENT');
      await host.links.delete(name);
      assert.equal(await host.links.find('hd0'), undefined);
    },
  },
  {
    name: 'a link that moves goes down and keeps its index where it is free',
    async run({ host, pod }) {
      await host.links.add({ name: 'hd0', kind: 'veth', up: true, peer: { name: 'hd1' } });
      const before = await host.links.get('hd1');
      await host.links.set('hd1', { netns: pod.handle });
      assert.equal(await host.links.find('hd1'), undefined);
      const after = await pod.links.get('hd1');
      assert.deepEqual([after.index, after.up], [before.index, false]);
      assert.deepEqual([(await host.links.get('hd0')).parentNetnsId, after.parentNetnsId], [0, 0]);
      await pod.links.set('hd1', { netns: host.handle, name: 'hd2', up: true });
      const back = await host.links.get('hd2');
      assert.deepEqual([back.up, back.parentNetnsId], [true, undefined]);
    },
  },
  {
    name: 'a link does not move to where its name is taken, nor one that is bound to its namespace',
    async run({ host, pod }) {
      await host.links.add({ name: 'hd0', kind: 'veth', peer: { name: 'hd1' } });
      await pod.links.add({ name: 'hd0', kind: 'bridge' });
      await refused(host.links.set('hd0', { netns: pod.handle }), 'EEXIST');
      await host.links.set('hd0', { netns: pod.handle, name: 'eth0' });
      assert.equal((await pod.links.get('eth0')).kind, 'veth');
      await refused(
        host.links.set('lo', { netns: pod.handle }),
        'EINVAL',
        'The interface netns is immutable',
      );
      await refused(
        pod.links.set('hd0', { netns: host.handle }),
        'EINVAL',
        'The interface netns is immutable',
      );
    },
  },
  {
    name: 'a group is deleted as a whole',
    async run({ host }) {
      for (const name of ['hd0', 'hd1']) await host.links.add({ name, kind: 'bridge', group: 7 });
      await host.links.add({ name: 'hd2', kind: 'bridge' });
      await host.links.deleteGroup(7);
      assert.deepEqual(
        (await host.links.list({ kind: 'bridge' })).map(({ name }) => name),
        ['hd2'],
      );
    },
  },
  {
    name: 'of several changes in one send, each is made or refused by itself',
    async run({ host }) {
      const { plan } = host.links;
      await assert.rejects(
        host.batch([
          plan.add({ name: 'hd0', kind: 'bridge' }),
          plan.add({ name: 'hd0', kind: 'bridge' }),
          plan.set(1, { up: true }),
          plan.delete('hd9'),
        ]),
        /2 of 4 changes: add link hd0 \(bridge\): EEXIST.*; delete link hd9: ENODEV/,
      );
      assert.equal((await host.links.get('lo')).up, true);
    },
  },
];
