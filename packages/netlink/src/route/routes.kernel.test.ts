import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { NetlinkError } from '../core/netlink-error.ts';
import { only } from '../lab/only.ts';
import { TestNetns } from '../testing/test-netns.ts';
import type { Nexthop } from './route.ts';

/** A link up, with 10.0.0.1/24 and fd00::1/64. */
async function labWithAddresses(): Promise<TestNetns> {
  const lab = new TestNetns();
  const { links, addresses } = lab.session;
  await links.add({ name: 'hd0', kind: 'veth', up: true, peer: { name: 'hd1' } });
  await links.set('hd1', { up: true });
  await addresses.add({ link: 'hd0', prefix: Prefix.parse('10.0.0.1/24') });
  await addresses.add({ link: 'hd0', prefix: Prefix.parse('fd00::1/64'), noDad: true });
  return lab;
}

const FAMILIES = [
  {
    family: 4,
    gateway: Addr.parse('10.0.0.2'),
    other: Addr.parse('10.0.0.3'),
    all: Prefix.DEFAULT4,
    dst: Prefix.parse('192.0.2.0/24'),
    far: Addr.parse('203.0.113.1'),
    own: Addr.parse('10.0.0.1'),
  },
  {
    family: 6,
    gateway: Addr.parse('fd00::2'),
    other: Addr.parse('fd00::3'),
    all: Prefix.DEFAULT6,
    dst: Prefix.parse('2001:db8::/48'),
    far: Addr.parse('2001:db9::1'),
    own: Addr.parse('fd00::1'),
  },
] as const;

for (const { family, gateway, other, all, dst, far, own } of FAMILIES) {
  test(`IPv${family}: a default route is made, found, looked up and deleted`, async () => {
    using lab = await labWithAddresses();
    const { routes, links } = lab.session;
    await assert.rejects(routes.lookup(far), (error) => NetlinkError.is(error, 'ENETUNREACH'));
    await routes.add({ dst: all, gateway, link: 'hd0', metric: 50, protocol: 98 });
    const route = only(await routes.list({ dst: all, table: 254 }));
    assert.ok(route.gateway?.equals(gateway));
    assert.deepEqual(
      [route.metric, route.protocol, route.type, route.table, route.link, route.onlink],
      [50, 98, 'unicast', 254, (await links.get('hd0')).index, false],
    );
    const [seen] = lab.json('ip', '-d', '-j', `-${family}`, 'route', 'show', 'default');
    assert.deepEqual(
      [seen?.['gateway'], seen?.['dev'], seen?.['metric'], seen?.['protocol']],
      [String(gateway), 'hd0', 50, '98'],
    );

    const looked = await routes.lookup(far);
    assert.ok(looked.gateway?.equals(gateway));
    assert.equal(looked.table, 254);
    assert.ok(looked.source?.equals(own));

    await assert.rejects(routes.add({ dst: all, gateway, link: 'hd0', metric: 50 }), (error) => {
      assert.ok(NetlinkError.is(error, 'EEXIST'));
      assert.ok(error.message.startsWith(`add route ${all} via ${gateway} dev hd0: EEXIST`));
      return true;
    });
    assert.deepEqual(await routes.list({ gateway, protocol: 98 }), [route]);
    await routes.delete(route);
    await assert.rejects(routes.delete(route), (error) => NetlinkError.is(error, 'ESRCH'));
    assert.deepEqual(await routes.list({ dst: all }), []);
  });

  test(`IPv${family}: metrics, source, a table of its own, on-link`, async () => {
    using lab = await labWithAddresses();
    const { routes } = lab.session;
    assert.deepEqual(await routes.list({ family, table: 1000 }), []);
    await routes.add({
      dst,
      gateway: far,
      link: 'hd0',
      table: 1000,
      source: own,
      onlink: true,
      metrics: { mtu: 1400, advmss: 1200 },
    });
    const route = only(await routes.list({ family, table: 1000 }));
    assert.equal(route.onlink, true);
    assert.equal(route.table, 1000);
    assert.ok(route.source?.equals(own));
    assert.equal(route.metrics?.mtu, 1400);
    assert.equal(route.metrics.advmss, 1200);
    const [seen] = lab.json('ip', '-d', '-j', `-${family}`, 'route', 'show', 'table', '1000');
    assert.deepEqual([seen?.['prefsrc'], seen?.['flags']], [String(own), ['onlink']]);
    assert.deepEqual(seen?.['metrics'], [{ mtu: 1400, advmss: 1200 }]);
    await routes.delete({ dst, table: 1000 });
    assert.deepEqual(await routes.list({ family, table: 1000 }), []);
  });

  test(`IPv${family}: append keeps both ways, replace but one`, async () => {
    using lab = await labWithAddresses();
    const { routes } = lab.session;
    await routes.append({ dst, gateway, link: 'hd0' });
    await routes.append({ dst, gateway: other, link: 'hd0' });
    await assert.rejects(routes.append({ dst, gateway, link: 'hd0' }), (error) =>
      NetlinkError.is(error, 'EEXIST'),
    );
    const ways = (await routes.list({ dst })).flatMap(
      (route): readonly Pick<Nexthop, 'gateway'>[] => route.nexthops ?? [route],
    );
    assert.deepEqual(ways.map((way) => String(way.gateway)).sort(), [String(gateway), String(other)].sort());
    for (const way of [gateway, other]) assert.equal((await routes.list({ dst, gateway: way })).length, 1);
    await routes.delete({ dst, gateway: other, link: 'hd0' });
    await routes.replace({ dst, gateway: other, link: 'hd0' });
    const left = await routes.list({ dst });
    assert.deepEqual(
      left.map((route) => String(route.gateway)),
      [String(other)],
    );
  });

  test(`IPv${family}: one route with weighted next hops`, async () => {
    using lab = await labWithAddresses();
    const { routes, links } = lab.session;
    const { index } = await links.get('hd0');
    await routes.add({
      dst,
      nexthops: [
        { gateway, link: 'hd0', weight: 1 },
        { gateway: other, link: index, weight: 3 },
      ],
    });
    const route = only(await routes.list({ dst }));
    assert.deepEqual(
      route.nexthops?.map(({ gateway, link, weight }) => [String(gateway), link, weight]),
      [
        [String(gateway), index, 1],
        [String(other), index, 3],
      ],
    );
    assert.deepEqual(await routes.list({ dst, link: 'hd0', gateway: other }), [route]);
    await routes.delete({ dst });
  });

  test(`IPv${family}: routes that drop`, async () => {
    using lab = await labWithAddresses();
    const { routes } = lab.session;
    for (const type of ['blackhole', 'unreachable', 'prohibit'] as const) {
      await routes.replace({ dst, type });
      const route = only(await routes.list({ dst }));
      assert.equal(route.type, type);
      await assert.rejects(routes.lookup(dst.addr.next() as Addr), NetlinkError);
      await routes.delete({ dst, type });
    }
  });
}

test('an IPv4 route by an IPv6 gateway', async () => {
  using lab = await labWithAddresses();
  const via = Addr.parse('fd00::9');
  const dst = Prefix.parse('198.51.100.0/24');
  await lab.session.routes.add({ dst, via, link: 'hd0' });
  const route = only(await lab.session.routes.list({ dst }));
  assert.ok(route.via?.equals(via));
  assert.equal(route.gateway, undefined);
  assert.deepEqual(lab.json('ip', '-d', '-j', 'route', 'show', String(dst))[0]?.['via'], {
    family: 'inet6',
    host: 'fd00::9',
  });
});

test('host bits of a destination are dropped; a scope is kept', async () => {
  using lab = await labWithAddresses();
  await lab.session.routes.add({ dst: Prefix.parse('198.51.100.7/24'), link: 'hd0', scope: 253 });
  const route = only(await lab.session.routes.list({ dst: Prefix.parse('198.51.100.0/24') }));
  assert.deepEqual([`${route.dst}`, route.scope], ['198.51.100.0/24', 253]);
  await assert.rejects(
    lab.session.routes.delete({ dst: Prefix.parse('198.51.100.0/24'), scope: 0 }),
    (error) => NetlinkError.is(error, 'ESRCH'),
  );
  await lab.session.routes.delete({ dst: Prefix.parse('198.51.100.0/24'), scope: 'any' });
});

test('all routes are the same as ip sees them', async () => {
  using lab = await labWithAddresses();
  const text = async (family: 4 | 6) =>
    (await lab.session.routes.list({ family }))
      .map(({ dst }) => (dst.isSingle ? `${dst.addr}` : `${dst}`))
      .sort();
  for (const family of [4, 6] as const) {
    const seen = lab.json('ip', '-d', '-j', `-${family}`, 'route', 'show', 'table', 'all');
    assert.deepEqual(await text(family), seen.map(({ dst }) => String(dst)).sort());
  }
});

test('ten thousand routes are made in batches and listed whole', async () => {
  using lab = await labWithAddresses();
  const { session } = lab;
  const start = Addr.parse('100.64.0.0');
  const changes = Array.from({ length: 10_000 }, (_, n) =>
    session.routes.plan.add({
      dst: Prefix.of(start.add(n * 4) as Addr, 30),
      gateway: Addr.parse('10.0.0.2'),
      table: 77,
    }),
  );
  await session.batch(changes);
  assert.equal((await session.routes.list({ table: 77 })).length, 10_000);
  await assert.rejects(
    session.batch(changes.slice(0, 3)),
    /3 of 3 changes: add route 100\.64\.0\.0\/30 via 10\.0\.0\.2 table 77: EEXIST/,
  );
});
