/** What only macvlan has: modes, hardware addresses, networks without addresses, masters by the default route. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MASTER, PLACES, StackedScene } from '../stacked/testing/scene.ts';
import { linkInfo, linkNames } from '../stacked/testing/verbs.ts';
import { subject } from './testing.ts';

for (const mode of ['bridge', 'private', 'vepa', 'passthru'] as const) {
  test(`mode ${mode}, and a queue length`, async () => {
    using scene = new StackedScene(subject);
    const container = scene.container();
    const config = scene.config({ mode, bcqueuelen: 500 });
    const prevResult = await scene.lab.add({ config, container });
    const data = linkInfo(container, 'eth0').linkinfo?.info_data;
    assert.equal(data?.['mode'], mode);
    assert.equal(data?.['bcqueuelen'], 500);
    await scene.lab.check({ config, container, prevResult });
    await assert.rejects(scene.lab.check({ config: { ...config, bcqueuelen: 600 }, container, prevResult }), {
      msg: 'link eth0 should queue 600 broadcast frames, but queues 500',
    });
  });
}

test('containers on one master reach each other in mode bridge, not in mode private', async () => {
  for (const mode of ['bridge', 'private']) {
    using scene = new StackedScene(subject);
    const [first, second] = [scene.container(), scene.container()];
    scene.ipam.answer = { ips: [{ address: '10.1.2.2/24' }, { address: 'fd00::2/64' }] };
    await scene.lab.add({ config: scene.config({ mode }), container: first });
    scene.ipam.answer = { ips: [{ address: '10.1.2.3/24' }, { address: 'fd00::3/64' }] };
    await scene.lab.add({ config: scene.config({ mode }), container: second });
    for (const address of ['10.1.2.2', 'fd00::2']) {
      assert.equal(second.pings(address, '-W', '1'), mode === 'bridge', `${mode}, ${address}`);
    }
  }
});

for (const place of PLACES) {
  test(`without addresses, master in the ${place}: the link is up, and no more`, async () => {
    using scene = new StackedScene(subject, place);
    const container = scene.container();
    const config = scene.config({ ipam: undefined });
    const request = { config, container };
    const prevResult = await scene.lab.add(request);
    assert.deepEqual(prevResult.ips ?? [], []);
    assert.ok(linkInfo(container, 'eth0').flags.includes('UP'));
    await scene.lab.check({ ...request, prevResult });
    await scene.lab.status(config);
    await scene.lab.gc(config, []);
    await scene.lab.del({ ...request, prevResult });
    assert.deepEqual(scene.ipam.commands, []);
    assert.ok(!linkNames(container).includes('eth0'));
  });

  test(`the default route's link is the master, in the ${place}; IPv4's before IPv6's`, async () => {
    using scene = new StackedScene(subject, place);
    const container = scene.container();
    const request = { config: scene.config({ master: undefined }), container };
    const netns = place === 'host' ? scene.lab.host : container;
    await assert.rejects(scene.lab.add(request), { msg: 'no default route interface found' });

    netns.run('ip', 'link', 'add', 'hd8', 'up', 'type', 'veth', 'peer', 'name', 'hd9');
    netns.run('ip', '-6', 'route', 'add', 'default', 'dev', 'hd8');
    const index = async (name: string) => (await netns.session.links.get(name)).index;
    const masterOf = async () => {
      const prevResult = await scene.lab.add(request);
      const { parent } = await container.session.links.get('eth0');
      await scene.lab.check({ ...request, prevResult });
      await scene.lab.del({ ...request, prevResult });
      return parent;
    };
    assert.equal(await masterOf(), await index('hd8'));
    netns.run('ip', 'route', 'add', 'default', 'dev', MASTER);
    assert.equal(await masterOf(), await index(MASTER));
  });
}

test('without addresses at versions that cannot say so, ADD leaves nothing', async () => {
  for (const cniVersion of ['0.1.0', '0.2.0']) {
    using scene = new StackedScene(subject);
    const container = scene.container();
    await assert.rejects(
      scene.lab.add({ config: scene.config({ ipam: undefined, cniVersion }), container }),
      {
        msg: 'cannot convert: no valid IP addresses',
      },
    );
    assert.deepEqual(linkNames(container), []);
  }
});

test('a hardware address: the configuration, CNI_ARGS, the runtime', async () => {
  using scene = new StackedScene(subject);
  const container = scene.container();
  const [own, args, runtime] = ['02:00:00:00:00:01', '02:00:00:00:00:02', '02:00:00:00:00:03'];
  const runtimeConfig = { mac: runtime };
  for (const [expected, request] of [
    [own, { config: scene.config({ mac: own }) }],
    [args, { config: scene.config({ mac: own }), args: `MAC=${args}` }],
    [runtime, { config: scene.config({ mac: own, runtimeConfig }), args: `MAC=${args}` }],
  ] as const) {
    const result = await scene.lab.add({ ...request, container });
    assert.equal(result.interfaces?.[0]?.mac, expected);
    assert.equal(linkInfo(container, 'eth0').address, expected);
    await scene.lab.del({ ...request, container });
  }
});
