import assert from 'node:assert/strict';
import { Addr, Prefix } from '@heddle/netaddr';
import type { KernelSession } from '../../session/session.ts';
import { type Case, pair, refused } from './case.ts';
import { routesOf } from './routes-text.ts';

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

/** IPv4 addresses of links, and the routes that come with them. */
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
];
