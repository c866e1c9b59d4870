import assert from 'node:assert/strict';
import { Addr, linkLocalFromMac, Prefix, solicitedNode } from '@heddle/netaddr';
import { type Case, pair, refused, until, wire } from './case.ts';
import { routesOf } from './routes-text.ts';

const p = (text: string) => Prefix.parse(text);

/** IPv6 addresses of links, and the routes that come with them. */
export const ipv6AddressCases: readonly Case[] = [
  {
    name: 'IPv6: an address is tentative until nobody objected; then it has its route',
    async run(place) {
      await wire(place);
      const { pod } = place;
      await pod.addresses.add({ link: 'eth0', prefix: p('fd00::2/64') });
      const find = async () =>
        (await pod.addresses.list({ link: 'eth0', family: 6 })).find(
          ({ prefix }) => `${prefix}` === 'fd00::2/64',
        );
      assert.equal((await find())?.tentative, true);
      assert.deepEqual(await routesOf(pod, 6), ['fd00::/64 dev eth0 metric 256 proto 2']);
      await until(async () => !(await find())?.tentative);
      assert.deepEqual(await routesOf(pod, 6), [
        'fd00::/64 dev eth0 metric 256 proto 2',
        'local fd00::2/128 dev eth0 table 255 proto 2',
      ]);
    },
  },
  {
    name: 'IPv6: an address that the other end has is marked as a duplicate',
    async run(place) {
      await wire(place);
      const prefix = p('fd00::2/64');
      await place.host.addresses.add({ link: 'hd0', prefix, noDad: true });
      await place.pod.addresses.add({ link: 'eth0', prefix });
      const failed = await until(async () =>
        (await place.pod.addresses.list({ link: 'eth0', family: 6 })).find((each) => each.dadFailed),
      );
      assert.ok(failed.prefix.equals(prefix) && failed.tentative);
    },
  },
  {
    name: 'IPv6: an address without detection is usable at once, also while the other end is down',
    async run({ host }) {
      await host.links.add({ name: 'hd0', kind: 'veth', up: true, peer: { name: 'hd1' } });
      await host.addresses.add({ link: 'hd0', prefix: p('fd00::1/64'), noDad: true });
      await host.addresses.add({ link: 'hd0', prefix: p('fd00::2/64') });
      const addresses = await host.addresses.list({ link: 'hd0', family: 6 });
      assert.deepEqual(
        addresses.map(({ prefix, tentative, flags }) => `${prefix} ${tentative} ${flags & ~0x40}`),
        ['fd00::2/64 true 128', 'fd00::1/64 false 130'],
      );
      const routes = ['fd00::/64 dev hd0 metric 256 proto 2', 'local fd00::1/128 dev hd0 table 255 proto 2'];
      await until(async () => (await routesOf(host, 6)).join() === routes.join());
    },
  },
  {
    name: 'IPv6: a link with a carrier has an address of its own and its multicast route',
    async run({ host }) {
      await pair(host);
      const { index, mac } = await host.links.get('hd0');
      const own = await until(async () =>
        (await host.addresses.list({ link: 'hd0', family: 6 })).find(({ scope }) => scope === 253),
      );
      assert.equal(`${own.prefix}`, `${linkLocalFromMac(mac ?? assert.fail())}/64`);
      const routes = (await host.routes.list({ family: 6, link: index })).map(
        ({ dst, type, table }) => `${type} ${dst} ${table}`,
      );
      assert.ok(
        routes.includes('unicast fe80::/64 254') && routes.includes('multicast ff00::/8 255'),
        routes.join(),
      );
      await host.links.set('hd0', { up: false });
      assert.deepEqual(await host.addresses.list({ link: 'hd0' }), []);
      assert.deepEqual(await host.routes.list({ family: 6, link: index }), []);
    },
  },
  {
    name: 'IPv6: addresses go when the link goes down, unless they are to be kept',
    async run({ host }) {
      await pair(host);
      const prefix = p('fd00::1/64');
      const global = async () =>
        (await host.addresses.list({ link: 'hd0', family: 6 }))
          .filter(({ scope }) => scope === 0)
          .map(String);
      await host.addresses.add({ link: 'hd0', prefix, noDad: true });
      await host.links.set('hd0', { up: false });
      assert.deepEqual(await global(), []);
      await host.sysctl.write('net/ipv6/conf/hd0/keep_addr_on_down', 1);
      await host.links.set('hd0', { up: true });
      await host.addresses.add({ link: 'hd0', prefix, noDad: true });
      const routes = await until(async () => {
        const found = await routesOf(host, 6);
        return found.some((route) => route.startsWith('local')) && found;
      });
      await host.links.set('hd0', { up: false });
      assert.equal((await global()).length, 1);
      assert.deepEqual(await routesOf(host, 6), []);
      await host.links.set('hd0', { up: true });
      await until(async () => (await routesOf(host, 6)).join() === routes.join());
    },
  },
  {
    name: 'IPv6: where it is switched off there are no addresses, and none can be added',
    async run({ host }) {
      await pair(host);
      await host.sysctl.write('net/ipv6/conf/hd0/disable_ipv6', 1);
      assert.deepEqual(await host.addresses.list({ link: 'hd0' }), []);
      await refused(
        host.addresses.add({ link: 'hd0', prefix: p('fd00::1/64') }),
        'EACCES',
        'ipv6: IPv6 is disabled on this device',
      );
      await host.sysctl.write('net/ipv6/conf/all/disable_ipv6', 0);
      await host.addresses.add({ link: 'hd0', prefix: p('fd00::1/64') });
    },
  },
  {
    name: 'IPv6: a link takes in what is sent to the groups of its addresses',
    async run({ host }) {
      await pair(host);
      const address = Addr.parse('fd00::1:2');
      const groups = async () => (await host.addresses.groups('hd0')).map(String);
      await host.addresses.add({ link: 'hd0', prefix: Prefix.of(address, 64), noDad: true });
      const own = `${solicitedNode(address)}`;
      await until(async () => (await groups()).includes(own));
      assert.ok((await groups()).includes('ff02::1'));
      await host.addresses.delete({ link: 'hd0', prefix: Prefix.of(address, 64) });
      assert.ok(!(await groups()).includes(own));
    },
  },
  {
    name: 'IPv6: a router answers to the first address of its networks',
    async run({ host }) {
      await pair(host);
      await host.addresses.add({ link: 'hd0', prefix: p('fd00::1/64'), noDad: true });
      // It joins when the address is ready, too: then it would have to leave twice.
      await until(async () => (await routesOf(host, 6)).some((route) => route.startsWith('local')));
      await host.sysctl.write('net/ipv6/conf/all/forwarding', 1);
      assert.equal(await host.sysctl.read('net/ipv6/conf/hd0/forwarding'), '1');
      assert.ok((await routesOf(host, 6)).includes('anycast fd00::/128 dev hd0 table 255 proto 2'));
      await host.addresses.delete({ link: 'hd0', prefix: p('fd00::1/64') });
      assert.deepEqual(await routesOf(host, 6), []);
    },
  },
];
