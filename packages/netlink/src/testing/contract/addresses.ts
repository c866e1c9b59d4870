import assert from 'node:assert/strict';
import { Addr, Prefix, solicitedNode } from '@heddle/netaddr';
import type { KernelSession } from '../../session/session.ts';
import { type Case, pair, refused, until, wire } from './case.ts';

const p = (text: string) => Prefix.parse(text);

/** The IPv4 addresses of a link as `ip` would write them. */
async function listed4(session: KernelSession, link: string): Promise<string[]> {
  const addresses = await session.addresses.list({ link, family: 4 });
  return addresses.map(({ prefix, peer, flags, broadcast }) =>
    [prefix, peer && `peer ${peer}`, broadcast && `brd ${broadcast}`, (flags & 1) !== 0 && 'secondary']
      .filter(Boolean)
      .join(' '),
  );
}

/** The routes of a family in all tables as `ip` would write them, but for what belongs to link-local addresses. */
export async function routesOf(session: KernelSession, family: 4 | 6): Promise<string[]> {
  const names = new Map((await session.links.list()).map(({ index, name }) => [index, name]));
  const routes = await session.routes.list({ family });
  return routes
    .filter(({ dst, type }) => !dst.addr.isLinkLocal && type !== 'multicast')
    .map(({ type, dst, gateway, link, table, scope, metric, source, protocol }) =>
      [
        type === 'unicast' ? '' : type,
        dst,
        gateway && `via ${gateway}`,
        link !== undefined && `dev ${names.get(link)}`,
        table !== 254 && `table ${table}`,
        scope !== 0 && `scope ${scope}`,
        metric && `metric ${metric}`,
        source && `src ${source}`,
        `proto ${protocol}`,
      ]
        .filter(Boolean)
        .join(' '),
    );
}

/** Addresses of links, and the routes that come with them. */
export const addressCases: readonly Case[] = [
  {
    name: 'the loopback gets its addresses when it goes up, and loses IPv6 when it goes down',
    async run({ host }) {
      await host.links.set('lo', { up: true });
      const prefixes = async () =>
        (await host.addresses.list({ link: 'lo' })).map(({ prefix, scope }) => `${prefix} ${scope}`);
      assert.deepEqual(await prefixes(), ['127.0.0.1/8 254', '::1/128 254']);
      assert.deepEqual(await routesOf(host, 4), [
        'local 127.0.0.0/8 dev lo table 255 scope 254 src 127.0.0.1 proto 2',
        'local 127.0.0.1/32 dev lo table 255 scope 254 src 127.0.0.1 proto 2',
        'broadcast 127.255.255.255/32 dev lo table 255 scope 253 src 127.0.0.1 proto 2',
      ]);
      assert.deepEqual(await routesOf(host, 6), ['local ::1/128 dev lo table 255 proto 2']);
      await host.links.set('lo', { up: false });
      assert.deepEqual(await prefixes(), ['127.0.0.1/8 254']);
    },
  },
  {
    name: 'IPv4: an address brings routes to itself, its network and its broadcast address',
    async run({ host }) {
      await pair(host);
      await host.addresses.add({ link: 'hd0', prefix: p('10.0.0.1/24'), broadcast: 'auto' });
      const [address] = await host.addresses.list({ family: 4 });
      assert.deepEqual(
        [
          `${address?.prefix}`,
          `${address?.broadcast}`,
          address?.label,
          address?.scope,
          address?.permanent,
          address?.flags,
        ],
        ['10.0.0.1/24', '10.0.0.255', 'hd0', 0, true, 0x80],
      );
      const routes = [
        '10.0.0.0/24 dev hd0 scope 253 src 10.0.0.1 proto 2',
        'local 10.0.0.1/32 dev hd0 table 255 scope 254 src 10.0.0.1 proto 2',
        'broadcast 10.0.0.255/32 dev hd0 table 255 scope 253 src 10.0.0.1 proto 2',
      ];
      assert.deepEqual(await routesOf(host, 4), routes);
      await host.links.set('hd0', { up: false });
      assert.deepEqual(await routesOf(host, 4), routes.slice(1, 2));
      await host.links.set('hd0', { up: true });
      assert.deepEqual(await routesOf(host, 4), routes);
      await host.addresses.delete({ link: 'hd0', prefix: p('10.0.0.1/24') });
      assert.deepEqual(await routesOf(host, 4), []);
    },
  },
  {
    name: 'IPv4: a second address of a network is secondary and goes with the first',
    async run({ host }) {
      await pair(host);
      for (const text of ['10.0.0.1/24', '10.0.0.2/24', '10.0.1.2/24', '10.0.0.3/25']) {
        await host.addresses.add({ link: 'hd0', prefix: p(text) });
      }
      assert.deepEqual(await listed4(host, 'hd0'), [
        '10.0.0.1/24',
        '10.0.1.2/24',
        '10.0.0.3/25',
        '10.0.0.2/24 secondary',
      ]);
      assert.ok(
        (await routesOf(host, 4)).includes(
          'local 10.0.0.2/32 dev hd0 table 255 scope 254 src 10.0.0.1 proto 2',
        ),
      );
      await host.addresses.delete({ link: 'hd0', prefix: p('10.0.0.1/24') });
      assert.deepEqual(await listed4(host, 'hd0'), ['10.0.1.2/24', '10.0.0.3/25']);
      assert.ok(!(await routesOf(host, 4)).some((route) => route.startsWith('10.0.0.0/24')));
    },
  },
  {
    name: 'IPv4: with promote_secondaries, a secondary address takes the place of the first',
    async run({ host }) {
      await pair(host);
      await host.sysctl.write('net/ipv4/conf/hd0/promote_secondaries', 1);
      for (const text of ['10.0.0.1/24', '10.0.0.2/24'])
        await host.addresses.add({ link: 'hd0', prefix: p(text) });
      await host.addresses.delete({ link: 'hd0', prefix: p('10.0.0.1/24') });
      assert.deepEqual(await listed4(host, 'hd0'), ['10.0.0.2/24']);
      assert.ok((await routesOf(host, 4)).includes('10.0.0.0/24 dev hd0 scope 253 src 10.0.0.2 proto 2'));
    },
  },
  {
    name: 'IPv4: another end, a label, a scope, a lifetime, no route',
    async run({ host }) {
      await pair(host);
      const prefix = p('192.0.2.1/32');
      const peer = Addr.parse('192.0.2.9');
      await host.addresses.add({ link: 'hd0', prefix, peer });
      assert.deepEqual(await listed4(host, 'hd0'), ['192.0.2.1/32 peer 192.0.2.9']);
      assert.deepEqual(await routesOf(host, 4), [
        '192.0.2.9/32 dev hd0 scope 253 src 192.0.2.1 proto 2',
        'local 192.0.2.1/32 dev hd0 table 255 scope 254 src 192.0.2.1 proto 2',
      ]);
      await host.addresses.delete({ link: 'hd0', prefix, peer });
      await host.addresses.add({
        ...{ link: 'hd0', prefix: p('10.0.0.1/24'), label: 'hd0:x', scope: 253, protocol: 77 },
        ...{ noPrefixRoute: true, validLifetime: 600, preferredLifetime: 300 },
      });
      const [address] = await host.addresses.list({ family: 4 });
      assert.deepEqual(
        [address?.label, address?.scope, address?.protocol, address?.permanent],
        ['hd0:x', 253, 77, false],
      );
      assert.ok(!(await routesOf(host, 4)).some((route) => route.startsWith('10.0.0.0/24')));
      await host.addresses.replace({
        link: 'hd0',
        prefix: p('10.0.0.1/24'),
        noPrefixRoute: true,
        scope: 253,
      });
      assert.equal((await host.addresses.list({ family: 4 }))[0]?.permanent, true);
    },
  },
  {
    name: 'an address that is there is EEXIST, one that is not EADDRNOTAVAIL',
    async run({ host }) {
      await pair(host);
      for (const [text, exists, missing] of [
        ['10.0.0.1/24', 'ipv4: Address already assigned', 'ipv4: Address not found'],
        ['fd00::1/64', 'ipv6: address already assigned', 'ipv6: address not found'],
      ] as const) {
        const key = { link: 'hd0', prefix: p(text) };
        await refused(host.addresses.delete(key), 'EADDRNOTAVAIL', missing);
        await host.addresses.add(key);
        await refused(host.addresses.add(key), 'EEXIST', exists);
        await refused(
          host.addresses.delete({ ...key, prefix: Prefix.of(key.prefix.addr, key.prefix.bits - 1) }),
          'EADDRNOTAVAIL',
        );
        await host.addresses.delete(key);
        await refused(host.addresses.add({ ...key, link: 99 }), 'ENODEV');
      }
    },
  },
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
      const { linkLocalFromMac } = await import('@heddle/netaddr');
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
