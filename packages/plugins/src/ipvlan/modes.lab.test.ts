/** What only ipvlan has: modes, chains. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DUAL, MASTER, PLACES, StackedScene } from '../stacked/testing/scene.ts';
import { addressesIn, linkInfo, linkNames } from '../stacked/testing/verbs.ts';
import { subject } from './testing.ts';

for (const mode of ['l2', 'l3', 'l3s'] as const) {
  test(`mode ${mode}`, async () => {
    using scene = new StackedScene(subject);
    const container = scene.container();
    const config = scene.config({ mode });
    scene.ipam.answer = { ips: DUAL.ips };
    const prevResult = await scene.lab.add({ config, container });
    const { linkinfo, address } = linkInfo(container, 'eth0');
    assert.equal(linkinfo?.info_data['mode'], mode);
    assert.equal(address, linkInfo(scene.lab.host, MASTER).address, "the hardware address is the master's");
    await scene.lab.check({ config, container, prevResult });
  });
}

for (const place of PLACES) {
  test(`in a chain, master in the ${place}: the link that the plugins before made, and their addresses`, async () => {
    using scene = new StackedScene(subject, place);
    for (const cniVersion of ['0.3.0', '0.4.0', '1.1.0']) {
      const container = scene.container();
      const config = scene.config({ cniVersion, master: undefined, ipam: undefined });
      const before = {
        cniVersion,
        interfaces: [{ name: MASTER }],
        ips: DUAL.ips.map((ip) => ({ ...ip, version: ip.address.includes(':') ? '6' : '4' })),
        routes: DUAL.routes,
      };
      const prevResult = await scene.lab.add({ config, container, prevResult: before });
      assert.deepEqual(
        prevResult.interfaces?.map(({ name }) => name),
        [MASTER, 'eth0'],
      );
      assert.deepEqual(
        addressesIn(container),
        DUAL.ips.map(({ address }) => address),
      );
      if (cniVersion !== '0.3.0') {
        const told = { ...prevResult, cniVersion, ips: before.ips.map((ip) => ({ ...ip, interface: 1 })) };
        await scene.lab.check({ config, container, prevResult: told });
      }
      await scene.lab.del({ config, container });
      assert.ok(!linkNames(container).includes('eth0'));
      await scene.lab.gc(config, []).catch((error) => assert.match(error.msg, /does not allow GC/));
    }
    assert.deepEqual(scene.ipam.commands, []);
  });
}

test('what a chain must have given', async () => {
  using scene = new StackedScene(subject);
  const container = scene.container();
  const cniVersion = '1.0.0';
  for (const [prevResult, config, msg] of [
    [{ cniVersion, interfaces: [] }, { master: undefined }, /prevResult has no single named interface/],
    [
      { cniVersion, interfaces: [{ name: MASTER }, { name: 'x' }] },
      { master: undefined },
      /prevResult has no single named interface .*: it has 2/,
    ],
    [{ cniVersion, interfaces: [{ name: MASTER }] }, { ipam: undefined }, 'no plugin name provided'],
    [undefined, { ipam: undefined }, 'no plugin name provided'],
    [undefined, { master: undefined }, 'no default route interface found'],
  ] as const) {
    const added = scene.lab.add({ config: scene.config({ cniVersion, ...config }), container, prevResult });
    await assert.rejects(added, { msg });
    assert.deepEqual(linkNames(container), []);
  }
});
