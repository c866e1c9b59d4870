/** Interfaces enter VRFs with all that they have. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Sabotage } from '../testing/index.ts';
import { VrfScene } from './testing.ts';

const MAIN = 254;
const BOTH = ['192.0.2.10/24', 'fd00::10/64'] as const;

describe('vrf: ADD', () => {
  test('makes the VRF, sets it up, and takes the interface in; the result is as it was', async () => {
    using scene = await VrfScene.create({ eth0: BOTH });
    const request = scene.request('eth0');
    const result = await scene.lab.add(request);
    assert.deepEqual(result, request.prevResult);
    assert.deepEqual(await scene.vrfs(), { vrf0: { table: 1, up: true, ports: ['eth0'] } });
    assert.deepEqual(await scene.addresses('eth0'), BOTH);
    assert.deepEqual(await scene.routes(1), ['192.0.2.0/24 dev eth0', 'fd00::/64 dev eth0']);
    await scene.lab.check(request);
  });

  test('moves the routes of the interface, and only those (containernetworking/plugins#1223)', async () => {
    using scene = await VrfScene.create({ eth0: BOTH, eth1: ['198.51.100.7/24', 'fd01::7/64'] });
    scene.ip('route', 'add', '203.0.113.0/24', 'via', '192.0.2.1', 'dev', 'eth0');
    scene.ip('-6', 'route', 'add', 'default', 'via', 'fd00::1', 'dev', 'eth0');
    // A gateway in no network, and what its route stands on.
    scene.ip('route', 'add', '10.0.0.1', 'dev', 'eth0', 'scope', 'link');
    scene.ip('route', 'add', '10.1.0.0/16', 'via', '10.0.0.1', 'dev', 'eth0');
    // A route of a table of its own stays there.
    scene.ip('route', 'add', '10.2.0.0/16', 'via', '192.0.2.2', 'dev', 'eth0', 'table', '500');
    scene.ip('route', 'add', '10.3.0.0/16', 'via', '198.51.100.1', 'dev', 'eth1');
    scene.ip('-6', 'route', 'add', 'fd09::/64', 'via', 'fd01::1', 'dev', 'eth1');
    const others = ['10.3.0.0/16 via 198.51.100.1 dev eth1', '198.51.100.0/24 dev eth1'];
    const request = scene.request('eth0', {}, [{ dst: '203.0.113.0/24', gw: '192.0.2.1' }, { dst: '::/0' }]);
    await scene.lab.add(request);
    assert.deepEqual(await scene.routes(1), [
      ...['10.0.0.1/32 dev eth0', '10.1.0.0/16 via 10.0.0.1 dev eth0', '192.0.2.0/24 dev eth0'],
      ...['203.0.113.0/24 via 192.0.2.1 dev eth0', '::/0 via fd00::1 dev eth0', 'fd00::/64 dev eth0'],
    ]);
    assert.deepEqual(await scene.routes(500), ['10.2.0.0/16 via 192.0.2.2 dev eth0']);
    assert.deepEqual(await scene.routes(MAIN), [
      ...others,
      'fd01::/64 dev eth1',
      'fd09::/64 via fd01::1 dev eth1',
    ]);
    await scene.lab.check(request);
  });

  test('takes along its way of an IPv6 default route that another interface shares', async () => {
    using scene = await VrfScene.create({ eth0: ['fd00::7/64'], eth1: ['fd01::7/64'] });
    scene.ip('-6', 'route', 'add', 'default', 'via', 'fd00::1', 'dev', 'eth0');
    scene.ip('-6', 'route', 'append', 'default', 'via', 'fd01::1', 'dev', 'eth1');
    const request = scene.request('eth1', {}, [{ dst: '::/0' }]);
    await scene.lab.add(request);
    assert.deepEqual(await scene.routes(1), ['::/0 via fd01::1 dev eth1', 'fd01::/64 dev eth1']);
    assert.deepEqual(await scene.routes(MAIN), ['::/0 via fd00::1 dev eth0', 'fd00::/64 dev eth0']);
    await scene.lab.check(request);
  });

  test('waits for no link-local address (containernetworking/plugins#1223)', async () => {
    using scene = await VrfScene.create({});
    const { session } = scene.container;
    await session.sysctl.write('net/ipv6/conf/default/dad_transmits', 20);
    await scene.addPair('eth0', BOTH);
    await scene.lab.add(scene.request('eth0'));
    const addresses = await session.addresses.list({ link: 'eth0', family: 6 });
    const onLink = addresses.filter(({ scope }) => scope !== 0);
    assert.deepEqual(
      onLink.map(({ tentative }) => tentative),
      [true],
    );
    assert.deepEqual(await scene.addresses('eth0'), BOTH);
  });

  test('waits for addresses that the kernel probes again', async () => {
    using scene = await VrfScene.create({});
    const { session } = scene.container;
    await scene.addPair('eth0', []);
    await session.sysctl.write('net/ipv6/conf/eth0/keep_addr_on_down', 1);
    scene.ip('-6', 'address', 'add', 'fd00::10/64', 'dev', 'eth0');
    await scene.lab.add(scene.request('eth0'));
    const addresses = await session.addresses.list({ link: 'eth0', family: 6 });
    assert.deepEqual(
      addresses.filter(({ scope }) => scope === 0).map(({ tentative }) => tentative),
      [false],
    );
  });

  for (const keep of [0, 1]) {
    test(`keeps IPv6 addresses with keep_addr_on_down ${keep}`, async () => {
      using scene = await VrfScene.create({ eth0: [...BOTH, 'fd00::11/64'] });
      await scene.container.session.sysctl.write('net/ipv6/conf/eth0/keep_addr_on_down', keep);
      await scene.lab.add(scene.request('eth0'));
      assert.deepEqual([...(await scene.addresses('eth0'))].sort(), [...BOTH, 'fd00::11/64'].sort());
    });
  }

  test('two interfaces of one VRF, with different addresses', async () => {
    using scene = await VrfScene.create({ eth0: BOTH, eth1: ['198.51.100.7/24'] });
    await scene.lab.add(scene.request('eth0'));
    await scene.lab.add(scene.request('eth1'));
    assert.deepEqual(await scene.vrfs(), { vrf0: { table: 1, up: true, ports: ['eth0', 'eth1'] } });
  });

  test('two interfaces of two VRFs, with equal addresses and a table each', async () => {
    using scene = await VrfScene.create({ eth0: BOTH, eth1: BOTH });
    await scene.lab.add(scene.request('eth0'));
    await scene.lab.add(scene.request('eth1', { vrfname: 'vrf1' }));
    assert.deepEqual(await scene.vrfs(), {
      vrf0: { table: 1, up: true, ports: ['eth0'] },
      vrf1: { table: 2, up: true, ports: ['eth1'] },
    });
    assert.deepEqual(await scene.routes(2), ['192.0.2.0/24 dev eth1', 'fd00::/64 dev eth1']);
  });

  test('tables as configured: one for two VRFs is fine, two for one VRF are not', async () => {
    using scene = await VrfScene.create({ eth0: [], eth1: [], eth2: [], eth3: [] });
    await scene.lab.add(scene.request('eth0', { table: 1001 }));
    await scene.lab.add(scene.request('eth1', { table: 1001 }));
    await scene.lab.add(scene.request('eth2', { table: 1001, vrfname: 'vrf1' }));
    const before = await scene.vrfs();
    await assert.rejects(scene.lab.add(scene.request('eth3', { table: 1002 })), {
      cniCode: 141,
      msg: /already exist with different routing table/,
    });
    assert.deepEqual(await scene.vrfs(), before);
    assert.deepEqual(before, {
      vrf0: { table: 1001, up: true, ports: ['eth0', 'eth1'] },
      vrf1: { table: 1001, up: true, ports: ['eth2'] },
    });
  });

  test('a table is free when no VRF, rule or route has it', async () => {
    using scene = await VrfScene.create({ eth0: BOTH, eth1: [] });
    await scene.container.session.links.add({ name: 'other', kind: 'vrf', table: 1 });
    scene.ip('rule', 'add', 'from', '192.0.2.10', 'table', '2');
    scene.ip('route', 'add', '10.1.0.0/16', 'via', '192.0.2.1', 'table', '3');
    await scene.lab.add(scene.request('eth1'));
    assert.equal((await scene.vrfs())['vrf0']?.table, 4);
  });

  test('an interface that has a master is refused', async () => {
    using scene = await VrfScene.create({ eth0: BOTH });
    await scene.container.session.links.add({ name: 'br0', kind: 'bridge' });
    await scene.container.session.links.set('eth0', { master: 'br0' });
    await assert.rejects(scene.lab.add(scene.request('eth0')), { msg: /has already a master set: br0/ });
    assert.deepEqual(await scene.vrfs(), {});
  });

  test('a link of the name that is no VRF is refused', async () => {
    using scene = await VrfScene.create({ eth0: BOTH, vrf0: [] });
    await assert.rejects(scene.lab.add(scene.request('eth0')), {
      cniCode: 141,
      msg: /vrf0 is no VRF but a dummy/,
    });
  });

  test('is refused without a previous result, without a name, and in 0.3.0', async () => {
    using scene = await VrfScene.create({ eth0: BOTH });
    const { prevResult: _, ...alone } = scene.request('eth0');
    await assert.rejects(scene.lab.add(alone), { msg: 'missing prevResult from earlier plugin' });
    await assert.rejects(scene.lab.add(scene.request('eth0', { vrfname: '' })), {
      cniCode: 7,
      msg: /valid vrf name/,
    });
    await assert.rejects(scene.lab.add(scene.request('eth0', { cniVersion: '0.3.0' })), { cniCode: 1 });
  });

  test('leaves everything as it was when it fails, whichever step fails', async () => {
    using scene = await VrfScene.create({ eth0: BOTH });
    scene.ip('route', 'add', '203.0.113.0/24', 'via', '192.0.2.1', 'dev', 'eth0');
    scene.ip('-6', 'route', 'add', 'default', 'via', 'fd00::1', 'dev', 'eth0');
    const state = async () => [await scene.vrfs(), await scene.addresses('eth0'), await scene.routes(MAIN)];
    const before = await state();
    for (let at = 1; ; at++) {
      const sabotage = new Sabotage(at);
      const wrap = sabotage.wrap.bind(sabotage);
      await scene.lab.run({ ...scene.request('eth0'), command: 'ADD', wrap });
      if (sabotage.failed === undefined) break;
      assert.deepEqual(await state(), before, sabotage.failed);
    }
  });
});
