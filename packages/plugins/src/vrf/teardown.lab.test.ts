/** Interfaces leave VRFs, and CHECK sees what has changed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KernelSession } from '@heddle/netlink';
import { VrfScene } from './testing.ts';

describe('vrf: DEL', () => {
  test('takes the interface out, and deletes the VRF with the last one', async () => {
    using scene = await VrfScene.create({ eth0: ['192.0.2.10/24'], eth1: ['198.51.100.7/24'] });
    for (const ifName of ['eth0', 'eth1']) await scene.lab.add(scene.request(ifName));
    await scene.lab.del(scene.request('eth0'));
    assert.deepEqual((await scene.vrfs())['vrf0']?.ports, ['eth1']);
    await scene.lab.del({ ...scene.request('eth1'), prevResult: undefined });
    assert.deepEqual(await scene.vrfs(), {});
    for (const netns of [undefined, '', '/run/netns/gone']) {
      await scene.lab.del({ ...scene.request('eth1'), ...(netns !== undefined && { netns }) });
    }
  });

  test('leaves the interface what it had, addresses and routes, in the main table', async () => {
    using scene = await VrfScene.create({ eth0: ['192.0.2.10/24', '2001:db8::10/64'] });
    scene.ip('route', 'add', '203.0.113.0/24', 'via', '192.0.2.1', 'dev', 'eth0');
    scene.ip('route', 'add', 'default', 'via', '2001:db8::1', 'dev', 'eth0');
    const looks = async () => [await scene.addresses('eth0'), await scene.routes(254)];
    const before = await looks();
    await scene.lab.add(scene.request('eth0'));
    await scene.lab.del(scene.request('eth0'));
    assert.deepEqual(await looks(), before);
  });

  test('needs no interface', async () => {
    using scene = await VrfScene.create({ eth0: ['192.0.2.10/24'] });
    await scene.lab.add(scene.request('eth0'));
    await scene.container.session.links.delete('eth0');
    await scene.lab.del(scene.request('eth0'));
    assert.deepEqual(await scene.vrfs(), {});
  });

  test('leaves an interface alone that is in another VRF', async () => {
    using scene = await VrfScene.create({ eth0: [], eth1: [] });
    await scene.lab.add(scene.request('eth0'));
    await scene.lab.add(scene.request('eth1', { vrfname: 'vrf1' }));
    await scene.lab.del(scene.request('eth1'));
    assert.deepEqual(Object.keys(await scene.vrfs()), ['vrf0', 'vrf1']);
  });

  for (const [what, doomed] of [
    ['the VRF', 'vrf0'],
    ['the interface', 'eth0'],
  ] as const) {
    test(`succeeds when ${what} is deleted while it works (containernetworking/plugins#1282)`, async () => {
      using scene = await VrfScene.create({ eth0: ['192.0.2.10/24'] });
      await scene.lab.add(scene.request('eth0'));
      const remove = () => scene.container.session.links.delete(doomed).catch(() => {});
      for (const before of ['batch', 'delete'] as const) {
        await scene.lab.del({
          ...scene.request('eth0'),
          wrap: (session) => intrude(session, before, remove),
        });
      }
      assert.deepEqual(await scene.vrfs(), {});
    });
  }
});

describe('vrf: CHECK', () => {
  for (const [args, said] of [
    ['link delete vrf0', /VRF vrf0 is missing/],
    ['link set vrf0 down', /VRF vrf0 should be up/],
    ['link set eth0 nomaster', /link eth0 should be in VRF vrf0/],
    ['link delete eth0', /link eth0 is missing/],
    [
      'route delete 203.0.113.0/24 table 7',
      /the route to 203\.0\.113\.0\/24 via 192\.0\.2\.1 is missing in table 7/,
    ],
  ] as const) {
    test(`finds drift: ${args}`, async () => {
      using scene = await VrfScene.create({ eth0: ['192.0.2.10/24'] });
      scene.ip('route', 'add', '203.0.113.0/24', 'via', '192.0.2.1', 'dev', 'eth0');
      const request = scene.request('eth0', { table: 7 }, [{ dst: '203.0.113.0/24', gw: '192.0.2.1' }]);
      await scene.lab.add(request);
      await scene.lab.check(request);
      scene.ip(...args.split(' '));
      await assert.rejects(scene.lab.check(request), { cniCode: 150, msg: said });
    });
  }

  test('finds another table and no previous result', async () => {
    using scene = await VrfScene.create({ eth0: [] });
    await scene.lab.add(scene.request('eth0'));
    const other = scene.request('eth0', { table: 5 });
    await assert.rejects(scene.lab.check(other), { msg: 'VRF vrf0 should have table 5, but has 1' });
    const { prevResult: _, ...alone } = other;
    await assert.rejects(scene.lab.check(alone), { msg: 'Required prevResult missing' });
  });
});

test('vrf: GC and STATUS', async () => {
  using scene = await VrfScene.create({});
  const config = { type: 'vrf', vrfname: 'vrf0' };
  await scene.lab.gc(config, []);
  await scene.lab.status(config);
  assert.equal((await scene.lab.host.session.links.list()).length, 1);
});

/** A session in which somebody else acts just before a link is changed. */
function intrude(
  session: KernelSession,
  method: 'batch' | 'delete',
  act: () => Promise<void>,
): KernelSession {
  const before = <T extends object>(whole: T, replaced: Readonly<Record<string, unknown>> = {}): T =>
    new Proxy(whole, {
      get: (target, name) => {
        const value: unknown = Object.hasOwn(replaced, name)
          ? replaced[String(name)]
          : Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (name !== method) return value.bind(target);
        return async (...args: readonly unknown[]) => {
          await act();
          return value.apply(target, args);
        };
      },
    });
  return before(session, { links: before(session.links) });
}
