import assert from 'node:assert/strict';
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import { SysError } from '@heddle/sys';
import type { KernelEvent } from '../../session/events.ts';
import { type Case, pair, until } from './case.ts';

/** What the sessions themselves offer. */
export const sessionCases: readonly Case[] = [
  {
    name: 'sysctls belong to the namespace, those of a link go with its name',
    async run({ host, pod }) {
      await host.sysctl.write('net/ipv4/ip_forward', 1);
      assert.equal(await host.sysctl.read('net.ipv4.conf.all.forwarding'), '1');
      assert.equal(await pod.sysctl.read('net.ipv4.ip_forward'), '0');
      await pair(host);
      assert.equal(await host.sysctl.read('net.ipv4.conf.hd0.forwarding'), '1');
      await host.sysctl.write('net/ipv6/conf/hd0/accept_ra', 0);
      await host.links.set('hd0', { name: 'hd.0' });
      assert.equal(await host.sysctl.read('net/ipv6/conf/hd.0/accept_ra'), '0');
      assert.equal(await host.sysctl.read('net.ipv6.conf.hd/0.accept_ra'), '0');
      assert.equal(await host.sysctl.has('net/ipv6/conf/hd0/accept_ra'), false);
      await assert.rejects(host.sysctl.read('net/ipv4/no_such'), (error) => SysError.is(error, 'ENOENT'));
      await assert.rejects(host.sysctl.write('net/ipv4/ip_forward', 'x'), (error) =>
        SysError.is(error, 'EINVAL'),
      );
    },
  },
  {
    name: 'a frame leaves by a link that is up only',
    async run({ host }) {
      const frame = new Uint8Array(60).fill(0xff, 0, 6);
      await assert.rejects(host.packets.send('lo', frame), (error) => SysError.is(error, 'ENETDOWN'));
      await host.links.set('lo', { up: true });
      await host.packets.send('lo', frame);
    },
  },
  {
    name: 'changes are told in their order to those who listen to their group',
    async run({ host }) {
      const told: string[] = [];
      const note = (event: KernelEvent) => {
        if (event.kind === 'link') told.push(`${event.action} link ${event.link.name}`);
        if (event.kind === 'address' && event.address.prefix.family === 4) {
          told.push(`${event.action} address ${event.address.prefix}`);
        }
        if (event.kind === 'route') told.push(`${event.action} route ${event.route.dst}`);
        if (event.kind === 'neighbour' && event.neighbour.state === 0x80) {
          told.push(`${event.action} neighbour ${event.neighbour.address}`);
        }
        if (event.kind === 'rule') told.push(`${event.action} rule ${event.rule.table}`);
      };
      const groups = ['link', 'address4', 'route4', 'neighbour', 'rule4'] as const;
      using _all = host.subscribe({ groups, onEvent: note, onResync: () => assert.fail('nothing is lost') });
      const links: string[] = [];
      using _links = host.subscribe({
        groups: ['link'],
        onEvent: ({ kind }) => links.push(kind),
        onResync: () => assert.fail('nothing is lost'),
      });
      await pair(host);
      await host.addresses.add({ link: 'hd0', prefix: Prefix.parse('10.0.0.1/24') });
      await host.neighbours.add({
        link: 'hd0',
        address: Addr.parse('10.0.0.2'),
        mac: Mac.parse('02:00:00:00:00:01'),
      });
      await host.rules.add({ from: Prefix.parse('10.0.0.0/24'), table: 9 });
      await host.addresses.delete({ link: 'hd0', prefix: Prefix.parse('10.0.0.1/24') });
      await host.links.delete('hd0');
      await until(async () => told.includes('delete link hd0') && told.includes('delete link hd1'));
      const wanted = [
        'new link hd0',
        'new address 10.0.0.1/24',
        'new route 10.0.0.0/24',
        'new neighbour 10.0.0.2',
        'new rule 9',
        'delete address 10.0.0.1/24',
        'delete route 10.0.0.0/24',
        'delete link hd0',
      ];
      const places = wanted.map((each) => told.indexOf(each));
      assert.ok(!places.includes(-1), `${wanted[places.indexOf(-1)]} was not told`);
      assert.ok(links.every((kind) => kind === 'link' || kind === 'port'));
    },
  },
  {
    name: 'a subscription that ended tells nothing more',
    async run({ host }) {
      let told = 0;
      const watching = host.subscribe({ groups: ['link'], onEvent: () => told++, onResync: () => undefined });
      watching[Symbol.dispose]();
      await host.links.add({ name: 'hd0', kind: 'bridge' });
      await new Promise((resolve) => setTimeout(resolve, 10));
      assert.equal(told, 0);
    },
  },
];
