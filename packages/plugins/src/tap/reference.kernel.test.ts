/** The same inputs for the reference's tap and ours, and devices of one under the verbs of the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CNI_VERSIONS } from '@heddle/cni';
import { hostLocal } from '../host-local/index.ts';
import { type Container, type LabRequest, PluginLab, ReferencePlugins } from '../testing/index.ts';
import { tap } from './index.ts';

const reference = ReferencePlugins.findCurrent();
const skip = reference === undefined && ReferencePlugins.ABSENT_CURRENT;

function requestIn(lab: PluginLab, container: Container, more: object): LabRequest {
  const ranges = [[{ subnet: '10.1.2.0/24' }]];
  const ipam = { type: 'host-local', dataDir: lab.directory, ranges, routes: [{ dst: '0.0.0.0/0' }] };
  return { config: { type: 'tap', cniVersion: '1.1.0', ...more, ipam }, container };
}

/** The container as `ip` shows it, without the hardware address unless that was given. */
function inside(container: Container): readonly string[] {
  const settled = (text: string) =>
    text
      .replace(/\d+: eth0|valid_lft.*|fe80::\S+|link\/ether (?!02:00:00:00:00:07)\S+/g, '')
      // The header for offloading is the choice of whoever opens the device.
      .replace(/ vnet_hdr (on|off)| pi (on|off)/g, '')
      .replace(/\s+/g, ' ');
  return [['-d', 'link', 'show', 'dev', 'eth0'], ['address', 'show', 'dev', 'eth0'], ['route']].map((args) =>
    settled(container.run('ip', ...args)),
  );
}

for (const [what, more] of [
  ['nobody named', {}],
  ['an owner', { owner: 1000 }],
  ['owner and group', { owner: 0, group: 0 }],
  ['several queues', { multiQueue: true }],
  ['several queues for an owner and a group', { multiQueue: true, owner: 1000, group: 107 }],
  ['MTU and hardware address', { mtu: 1400, mac: '02:00:00:00:00:07' }],
] as const) {
  test(`${what}: the same device, and each takes the other's`, { skip }, async () => {
    using theirs = new PluginLab([tap, hostLocal]);
    using ours = new PluginLab([tap, hostLocal]);
    const [their, our] = [theirs.container('c1'), ours.container('c1')];
    const [theirRequest, ourRequest] = [requestIn(theirs, their, more), requestIn(ours, our, more)];
    const theirResult = JSON.parse(reference?.run(theirs.host, { ...theirRequest, command: 'ADD' }) ?? '');
    const ourResult = await ours.add(ourRequest);
    assert.deepEqual(shapeOf(ourResult, our), shapeOf(theirResult, their));
    assert.deepEqual(inside(our), inside(their));

    await theirs.check({ ...theirRequest, prevResult: theirResult });
    reference?.run(ours.host, { ...ourRequest, command: 'CHECK', prevResult: ourResult });
    await theirs.del({ ...theirRequest, prevResult: theirResult });
    reference?.run(ours.host, { ...ourRequest, command: 'DEL', prevResult: ourResult });
    for (const container of [their, our]) assert.equal(await container.session.links.find('eth0'), undefined);
  });
}

test('the same result at every version', { skip }, async () => {
  for (const cniVersion of CNI_VERSIONS) {
    using theirs = new PluginLab([tap, hostLocal]);
    using ours = new PluginLab([tap, hostLocal]);
    const [their, our] = [theirs.container('c1'), ours.container('c1')];
    const more = { cniVersion, owner: 0, group: 0 };
    const theirText = reference?.run(theirs.host, { ...requestIn(theirs, their, more), command: 'ADD' });
    const { stdout } = await ours.run({ ...requestIn(ours, our, more), command: 'ADD' });
    assert.deepEqual(
      shapeOf(JSON.parse(stdout), our),
      shapeOf(JSON.parse(theirText ?? ''), their),
      cniVersion,
    );
  }
});

function shapeOf(result: object, { path }: Container): unknown {
  const text = JSON.stringify(result).replaceAll(path, 'SANDBOX');
  return JSON.parse(text.replace(/(?:[0-9a-f]{2}:){5}[0-9a-f]{2}/g, 'MAC'));
}
