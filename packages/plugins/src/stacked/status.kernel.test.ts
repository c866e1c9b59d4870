/** STATUS on a kernel that lacks a kind of links. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { subject as ipvlan } from '../ipvlan/testing.ts';
import { subject as macvlan } from '../macvlan/testing.ts';
import { TestNetns } from '../testing/index.ts';
import { subject as vlan } from '../vlan/testing.ts';
import { StackedScene } from './testing/scene.ts';

for (const subject of [ipvlan, macvlan, vlan]) {
  const { type } = subject.plugin;
  const skip = hasKind(subject.plugin.type, subject.linkOptions) && `this kernel has ${type} links`;
  test(`${type}: STATUS says that the kernel has no such links`, { skip }, async () => {
    using scene = new StackedScene({ ...subject, neighbourLink: undefined });
    await assert.rejects(scene.lab.status(scene.config()), {
      msg: `this kernel has no links of the kind ${type}`,
      cniCode: 50,
    });
    const added = scene.lab.add({ config: scene.config(), container: scene.container() });
    await assert.rejects(added, { msg: new RegExp(`cannot put a ${type} on hd0`), cniDetails: /modprobe/ });
  });
}

function hasKind(type: string, options: readonly string[]): boolean {
  using netns = new TestNetns();
  netns.run('ip', 'link', 'add', 'hd0', 'type', 'veth', 'peer', 'name', 'hd1');
  try {
    netns.run('ip', 'link', 'add', 'link', 'hd0', 'name', 'hd2', 'type', type, ...options);
    return true;
  } catch {
    return false;
  }
}
