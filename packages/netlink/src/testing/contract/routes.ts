import assert from 'node:assert/strict';
import { Addr, Prefix } from '@heddle/netaddr';
import type { RouteSpec } from '../../route/route.ts';
import type { KernelSession } from '../../session/session.ts';
import { type Case, pair, refused, until } from './case.ts';
import { routesOf } from './routes-text.ts';

const FAMILIES = [
  {
    family: 4,
    network: Prefix.parse('10.0.0.1/24'),
    gateway: Addr.parse('10.0.0.2'),
    other: Addr.parse('10.0.0.3'),
    all: Prefix.DEFAULT4,
    dst: Prefix.parse('192.0.2.0/24'),
    far: Addr.parse('203.0.113.1'),
    metric: undefined,
  },
  {
    family: 6,
    network: Prefix.parse('fd00::1/64'),
    gateway: Addr.parse('fd00::2'),
    other: Addr.parse('fd00::3'),
    all: Prefix.DEFAULT6,
    dst: Prefix.parse('2001:db8::/48'),
    far: Addr.parse('2001:db9::1'),
    metric: 1024,
  },
] as const;

/** `hd0` up, with 10.0.0.1/24 and fd00::1/64. */
async function addressed(host: KernelSession): Promise<void> {
  await pair(host);
  for (const { network } of FAMILIES) {
    await host.addresses.add({ link: 'hd0', prefix: network, noDad: true });
    await until(async () => (await host.routes.list({ dst: Prefix.host(network.addr) })).length > 0);
  }
}

/** The ways of the routes to a destination: `gateway weight`, a route in a row. */
async function waysTo(host: KernelSession, dst: Prefix): Promise<string[]> {
  return (await host.routes.list({ dst })).map(({ nexthops, gateway }) =>
    nexthops === undefined ? `${gateway}` : nexthops.map((hop) => `${hop.gateway} ${hop.weight}`).join(', '),
  );
}

/** What is the same in both families. */
const common = FAMILIES.flatMap(({ family, network, gateway, other, all, dst, far, metric }): Case[] => [
  {
    name: `IPv${family}: a default route is made, looked up and deleted`,
    async run({ host }) {
      await addressed(host);
      const { index } = await host.links.get('hd0');
      await refused(host.routes.lookup(far), 'ENETUNREACH');
      await host.routes.add({ dst: all, gateway, link: 'hd0', protocol: 98 });
      const [route, ...more] = await host.routes.list({ dst: all });
      assert.deepEqual(more, []);
      assert.deepEqual(
        [
          `${route?.gateway}`,
          route?.link,
          route?.table,
          route?.scope,
          route?.type,
          route?.protocol,
          route?.metric,
        ],
        [`${gateway}`, index, 254, 0, 'unicast', 98, metric],
      );
      const looked = await host.routes.lookup(far);
      assert.deepEqual(
        [`${looked.gateway}`, looked.link, `${looked.source}`],
        [`${gateway}`, index, `${network.addr}`],
      );
      const near = await host.routes.lookup(gateway);
      assert.deepEqual([near.gateway, near.link], [undefined, index]);
      assert.equal((await host.routes.lookup(network.addr)).type, 'local');
      await host.routes.delete({ dst: all });
      // Where there is no default route, IPv6 finds its null entry.
      await refused(host.routes.delete({ dst: all }), family === 4 ? 'ESRCH' : 'ENOENT');
      await refused(host.routes.delete({ dst: all, link: 'hd0' }), 'ESRCH');
    },
  },
  {
    name: `IPv${family}: the gateway's link need not be named`,
    async run({ host }) {
      await addressed(host);
      await host.routes.add({ dst, gateway });
      assert.equal((await host.routes.list({ dst }))[0]?.link, (await host.links.get('hd0')).index);
    },
  },
  {
    name: `IPv${family}: a gateway that cannot be reached is refused, one that is said to be on the link is taken`,
    async run({ host }) {
      await addressed(host);
      const errno = family === 4 ? 'ENETUNREACH' : 'EHOSTUNREACH';
      const text = family === 4 ? 'Nexthop has invalid gateway' : undefined;
      await refused(host.routes.add({ dst, gateway: far }), errno, text);
      await refused(host.routes.add({ dst, gateway: far, link: 'hd0' }), errno, text);
      await refused(
        host.routes.add({ dst, gateway: far, onlink: true }),
        'ENODEV',
        'Nexthop device required for onlink',
      );
      await host.routes.add({ dst, gateway: far, link: 'hd0', onlink: true });
      assert.equal((await host.routes.list({ dst }))[0]?.onlink, true);
    },
  },
  {
    name: `IPv${family}: a route by a link that is down, or that there is not`,
    async run({ host }) {
      await host.links.add({ name: 'hd0', kind: 'veth', peer: { name: 'hd1' } });
      const text = family === 4 ? 'Device for nexthop is not up' : 'Nexthop device is not up';
      await refused(host.routes.add({ dst, link: 'hd0' }), 'ENETDOWN', text);
      await refused(host.routes.add({ dst, link: 99 }), 'ENODEV');
      await refused(host.routes.add({ dst }), 'ENODEV');
    },
  },
  {
    name: `IPv${family}: what is there is EEXIST, with another metric it is another route`,
    async run({ host }) {
      await addressed(host);
      await host.routes.add({ dst, gateway, link: 'hd0' });
      await refused(host.routes.add({ dst, gateway, link: 'hd0' }), 'EEXIST');
      await refused(host.routes.add({ dst, gateway: other, link: 'hd0' }), 'EEXIST');
      await host.routes.add({ dst, gateway: other, link: 'hd0', metric: 5000 });
      assert.deepEqual(
        (await host.routes.list({ dst })).map((route) => route.metric),
        [metric, 5000],
      );
      await host.routes.delete({ dst, metric: 5000 });
      assert.deepEqual(await waysTo(host, dst), [`${gateway}`]);
    },
  },
  {
    name: `IPv${family}: replace takes the place of the first, append keeps both`,
    async run({ host }) {
      await addressed(host);
      await host.routes.replace({ dst, gateway, link: 'hd0' });
      await host.routes.replace({ dst, gateway: other, link: 'hd0' });
      assert.deepEqual(await waysTo(host, dst), [`${other}`]);
      await host.routes.append({ dst, gateway, link: 'hd0' });
      await refused(host.routes.append({ dst, gateway, link: 'hd0' }), 'EEXIST');
      // IPv4 keeps two routes, the newer one first; IPv6 one with two ways.
      assert.deepEqual(
        await waysTo(host, dst),
        family === 4 ? [`${gateway}`, `${other}`] : [`${other} 1, ${gateway} 1`],
      );
      await host.routes.delete({ dst, gateway, link: 'hd0' });
      assert.deepEqual(await waysTo(host, dst), [`${other}`]);
      await refused(host.routes.delete({ dst, gateway, link: 'hd0' }), 'ESRCH');
    },
  },
  {
    name: `IPv${family}: several ways with their weights`,
    async run({ host }) {
      await addressed(host);
      const nexthops = [
        { gateway, link: 'hd0', weight: 1 },
        { gateway: other, link: 'hd0', weight: 3 },
      ];
      await host.routes.add({ dst, nexthops });
      assert.deepEqual(await waysTo(host, dst), [`${gateway} 1, ${other} 3`]);
      await refused(host.routes.add({ dst, nexthops }), 'EEXIST');
      await host.routes.delete({ dst });
      assert.deepEqual(await waysTo(host, dst), []);
      await refused(
        host.routes.add({ dst, nexthops: [{ gateway: far, link: 'hd0' }] }),
        family === 4 ? 'ENETUNREACH' : 'EHOSTUNREACH',
      );
    },
  },
  {
    name: `IPv${family}: tables of their own, metrics, sources`,
    async run({ host }) {
      await addressed(host);
      const spec: RouteSpec = {
        ...{ dst, gateway, link: 'hd0', table: 1000, source: network.addr },
        metrics: { mtu: 1400, advmss: 1200 },
      };
      assert.deepEqual(await host.routes.list({ family, table: 1000 }), []);
      await host.routes.add(spec);
      const [route] = await host.routes.list({ family, table: 1000 });
      assert.deepEqual(
        [route?.table, `${route?.source}`, route?.metrics?.mtu, route?.metrics?.advmss],
        [1000, `${network.addr}`, 1400, 1200],
      );
      assert.deepEqual(await host.routes.list({ dst, table: 254 }), []);
      await refused(host.routes.lookup(dst.addr.next() ?? far), 'ENETUNREACH');
      await host.rules.add({ to: dst, table: 1000 });
      assert.equal((await host.routes.lookup(dst.addr.next() ?? far)).table, 1000);
      await refused(
        host.routes.add({ ...spec, source: far, table: 1001 }),
        'EINVAL',
        family === 4 ? 'Invalid prefsrc address' : 'Invalid source address',
      );
      await host.routes.delete({ dst, table: 1000 });
      assert.deepEqual(await host.routes.list({ family, table: 1000 }), []);
    },
  },
  {
    name: `IPv${family}: routes that drop`,
    async run({ host }) {
      await addressed(host);
      const inside = dst.addr.next() ?? far;
      for (const [type, errno] of [
        ['blackhole', 'EINVAL'],
        ['unreachable', 'EHOSTUNREACH'],
        ['prohibit', 'EACCES'],
      ] as const) {
        await host.routes.add({ dst, type });
        assert.equal((await host.routes.list({ dst }))[0]?.type, type);
        await refused(host.routes.lookup(inside), errno);
        await host.routes.delete({ dst, type });
      }
    },
  },
  {
    name: `IPv${family}: routes go with their link, and with the source that they name`,
    async run({ host }) {
      await addressed(host);
      await host.routes.add({ dst, gateway, link: 'hd0' });
      await host.links.set('hd0', { up: false });
      assert.deepEqual(await host.routes.list({ dst }), []);
      await host.links.set('hd0', { up: true });
      assert.deepEqual(await host.routes.list({ dst }), []);
    },
  },
  {
    name: `IPv${family}: the longest prefix wins, then the lowest metric`,
    async run({ host }) {
      await addressed(host);
      const inside = dst.addr.next() ?? far;
      await host.routes.add({ dst: all, gateway, link: 'hd0' });
      await host.routes.add({ dst, gateway: other, link: 'hd0', metric: 50 });
      await host.routes.add({ dst, gateway, link: 'hd0', metric: 60 });
      assert.equal(`${(await host.routes.lookup(inside)).gateway}`, `${other}`);
      assert.equal(`${(await host.routes.lookup(far)).gateway}`, `${gateway}`);
      await host.routes.delete({ dst, metric: 50 });
      assert.equal(`${(await host.routes.lookup(inside)).gateway}`, `${gateway}`);
    },
  },
]);

/** Routing tables. */
export const routeCases: readonly Case[] = [
  ...common,
  {
    name: 'IPv4: scopes are kept, and can be asked for when deleting',
    async run({ host }) {
      await addressed(host);
      const dst = Prefix.parse('198.51.100.0/24');
      await host.routes.add({ dst, link: 'hd0', scope: 253 });
      assert.equal((await host.routes.list({ dst }))[0]?.scope, 253);
      await refused(host.routes.delete({ dst, scope: 0 }), 'ESRCH');
      await host.routes.delete({ dst, scope: 'any' });
    },
  },
  {
    name: 'IPv4: a gateway of the other family',
    async run({ host }) {
      await addressed(host);
      const dst = Prefix.parse('198.51.100.0/24');
      await host.routes.add({ dst, via: Addr.parse('fd00::9'), link: 'hd0' });
      const [route] = await host.routes.list({ dst });
      assert.deepEqual([`${route?.via}`, route?.gateway], ['fd00::9', undefined]);
    },
  },
  {
    name: 'IPv4: a gateway behind a route to itself; a route does not make another one reachable twice over',
    async run({ host }) {
      await addressed(host);
      const gateway = Addr.parse('203.0.113.1');
      await host.routes.add({ dst: Prefix.host(gateway), link: 'hd0', scope: 253 });
      await host.routes.add({ dst: Prefix.DEFAULT4, gateway, link: 'hd0' });
      await refused(
        host.routes.add({ dst: Prefix.parse('198.51.100.0/24'), gateway: Addr.parse('8.8.8.8') }),
        'ENETUNREACH',
      );
    },
  },
  {
    name: 'IPv6: an own address is no gateway',
    async run({ host }) {
      await addressed(host);
      const dst = Prefix.parse('2001:db8::/48');
      await refused(
        host.routes.add({ dst, gateway: Addr.parse('fd00::1'), link: 'hd0' }),
        'EINVAL',
        'Gateway can not be a local address',
      );
      await host.routes.add({ dst, gateway: Addr.parse('fe80::1'), link: 'hd0' });
      await refused(
        host.routes.add({ dst, gateway: Addr.parse('fe80::1'), metric: 5 }),
        'EINVAL',
        'Egress device not specified',
      );
    },
  },
  {
    name: 'the route that came with an address stays away once it was deleted',
    async run({ host }) {
      await addressed(host);
      await host.routes.delete({ dst: Prefix.parse('10.0.0.0/24') });
      await host.addresses.add({ link: 'hd0', prefix: Prefix.parse('10.0.9.1/24') });
      assert.ok(!(await routesOf(host, 4)).some((route) => route.startsWith('10.0.0.0/24')));
      await host.addresses.delete({ link: 'hd0', prefix: Prefix.parse('10.0.9.1/24') });
      assert.ok(!(await routesOf(host, 4)).some((route) => route.startsWith('10.0.0.0/24')));
    },
  },
];
