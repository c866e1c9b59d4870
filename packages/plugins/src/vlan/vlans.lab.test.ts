/** What only vlan has: VLANs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEIGHBOUR, StackedScene } from '../stacked/testing/scene.ts';
import { linkInfo, linkNames } from '../stacked/testing/verbs.ts';
import { subject } from './testing.ts';

test('only a neighbour in the same VLAN can be reached', async () => {
  using scene = new StackedScene(subject);
  const container = scene.container();
  for (const [vlanId, reached] of [
    [7, true],
    [8, false],
  ] as const) {
    await scene.lab.add({ config: scene.config({ vlanId }), container });
    assert.equal(container.pings(NEIGHBOUR[0], '-W', '1'), reached, `VLAN ${vlanId}`);
    await scene.lab.del({ config: scene.config({ vlanId }), container });
  }
});

test('a VLAN that another container has is refused in words', async () => {
  using scene = new StackedScene(subject);
  const [first, second] = [scene.container(), scene.container()];
  await scene.lab.add({ config: scene.config(), container: first });
  await assert.rejects(scene.lab.add({ config: scene.config(), container: second }), {
    msg: /cannot put a vlan on hd0: .*VLAN device already exists/,
  });
  assert.deepEqual(linkNames(second), []);
});

test('without addresses: the link is up, and no more', async () => {
  using scene = new StackedScene(subject);
  const container = scene.container();
  const request = { config: scene.config({ ipam: undefined }), container };
  const prevResult = await scene.lab.add(request);
  assert.ok(linkInfo(container, 'eth0').flags.includes('UP'));
  await scene.lab.check({ ...request, prevResult });
  await scene.lab.del({ ...request, prevResult });
  assert.deepEqual(scene.ipam.commands, []);
  assert.deepEqual(linkNames(container), []);
});
