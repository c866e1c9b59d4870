/** Tests of what is left: by DEL, by a failed ADD, by GC. Those of STATUS are here, too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostLinkName } from '@heddle/cni/plugin';
import { addDespite, everyRequest } from '../../testing/index.ts';
import { MASTER, StackedScene, type Subject } from './scene.ts';
import { linkNames } from './verbs.ts';

/** Registers the tests. */
export function testTeardown(subject: Subject): void {
  const { type } = subject.plugin;

  // Each bit says whether one piece is gone before DEL.
  test(`${type}: DEL twice, whatever is gone before (containernetworking/cni#204)`, async () => {
    using scene = new StackedScene(subject);
    const { lab, ipam } = scene;
    const clean = lab.hostState();
    for (let pieces = 0; pieces < 8; pieces++) {
      const gone = ['namespace', 'link', 'lease'].filter((_, bit) => (pieces & (1 << bit)) !== 0);
      const container = scene.container('pod');
      const { path } = container;
      const config = scene.config();
      const prevResult = await lab.add({ config, container });
      if (gone.includes('lease')) ipam.held.clear();
      // A namespace goes in the kernel's own time, and holds its VLAN until then.
      if (gone.includes('link') || gone.includes('namespace')) container.run('ip', 'link', 'delete', 'eth0');
      if (gone.includes('namespace')) container[Symbol.dispose]();
      const netns = gone.includes('namespace') ? '/run/netns/gone' : path;
      for (let time = 0; time < 2; time++) {
        await lab.del({ config, container: { id: 'pod' }, netns, prevResult });
        assert.equal(ipam.held.size, 0, `gone: ${gone.join(', ')}`);
      }
      if (!gone.includes('namespace')) assert.deepEqual(linkNames(container), []);
      assert.equal(lab.hostState(), clean);
      container[Symbol.dispose]();
    }
  });

  test(`${type}: DEL of what was never added; with no namespace, a plain file in its place, no master`, async () => {
    using scene = new StackedScene(subject);
    const { lab, ipam } = scene;
    const container = scene.container();
    await lab.del({ config: scene.config(), container });
    await lab.del({ config: scene.config(), container, netns: '' });
    await lab.del({ config: scene.config(), container, netns: '/etc/hostname' });
    await lab.del({ config: scene.config({ master: 'nope0' }), container });
    await lab.del({ config: scene.config({ master: 'nope0', linkInContainer: true }), container });
    assert.deepEqual(ipam.commands, Array(5).fill('DEL'));
  });

  test(`${type}: DEL after the master is gone, and without a previous result`, async () => {
    using scene = new StackedScene(subject);
    const container = scene.container();
    await scene.lab.add({ config: scene.config(), container });
    scene.lab.host.run('ip', 'link', 'set', MASTER, 'name', 'hd9');
    await scene.lab.del({ config: scene.config(), container });
    assert.deepEqual(linkNames(container), []);
    assert.equal(scene.ipam.held.size, 0);
  });

  test(`${type}: DEL deletes the link although IPAM fails, and says that it failed`, async () => {
    using scene = new StackedScene(subject);
    const container = scene.container();
    await scene.lab.add({ config: scene.config(), container });
    scene.ipam.failing.add('DEL');
    const deleted = scene.lab.del({ config: scene.config(), container });
    await assert.rejects(deleted, { msg: /stub: DEL fails as told/, cniCode: 100 });
    assert.deepEqual(linkNames(container), []);
  });

  test(`${type}: an ADD that fails at any request to the kernel leaves nothing`, async (t) => {
    using scene = new StackedScene(subject);
    const { lab, ipam } = scene;
    const config = scene.config();
    const clean = lab.hostState();
    const steps: string[] = [];
    const container = scene.container('pod');
    for (const sabotage of everyRequest()) {
      const { what } = await addDespite(lab, { config, container }, sabotage);
      if (sabotage.failed !== undefined) steps.push(sabotage.failed);
      assert.deepEqual(linkNames(container), [], what);
      assert.equal(ipam.held.size, 0, what);
    }
    assert.equal(lab.hostState(), clean);
    const reached = steps.join(', ');
    t.diagnostic(`failed at each of: ${reached}`);
    for (const step of ['links.add', 'links.set', 'batch', 'links.get'])
      assert.ok(steps.includes(step), `${step} is not among ${reached}`);
  });

  test(`${type}: DEL takes down what an ADD left that was killed at any request to the kernel`, async () => {
    using scene = new StackedScene(subject);
    const { lab, ipam } = scene;
    const config = scene.config();
    const clean = lab.hostState();
    const container = scene.container('pod');
    for (const sabotage of everyRequest('dies')) {
      await sabotage.outcome(lab.run({ command: 'ADD', config, container, wrap: sabotage.wrap }));
      await lab.del({ config, container });
      const what = `${sabotage}`;
      assert.deepEqual(linkNames(container), [], what);
      assert.equal(ipam.held.size, 0, what);
    }
    assert.equal(lab.hostState(), clean);
  });

  test(`${type}: ADD replaces what an ADD left that died before it could give the link its name`, async () => {
    using scene = new StackedScene(subject);
    const container = scene.container();
    const attachment = { network: 'net1', containerID: container.id, ifName: 'eth0' };
    const link = ['link', MASTER, 'name', hostLinkName(attachment), 'netns', container.path];
    scene.lab.host.run('ip', 'link', 'add', ...link, 'type', type, ...subject.linkOptions);
    await scene.lab.add({ config: scene.config(), container });
    assert.deepEqual(linkNames(container), ['eth0']);
  });

  test(`${type}: an ADD whose IPAM fails, twenty times, leaves no link and no address (containernetworking/plugins#29)`, async () => {
    using scene = new StackedScene(subject);
    const { lab, ipam } = scene;
    const clean = lab.hostState();
    const container = scene.container('pod');
    ipam.failing.add('ADD');
    for (let time = 0; time < 20; time++) {
      const added = lab.add({ config: scene.config(), container });
      await assert.rejects(added, { msg: /stub: ADD fails as told/ });
    }
    assert.deepEqual(linkNames(container), []);
    assert.equal(ipam.held.size, 0);
    assert.equal(lab.hostState(), clean);
  });

  test(`${type}: GC releases stale addresses, none that is valid, and says when IPAM fails`, async () => {
    using scene = new StackedScene(subject);
    const { lab, ipam } = scene;
    for (const owner of ['net1/valid', 'net1/stale', 'net2/other']) ipam.held.add(`${owner}/eth0`);
    await lab.gc(scene.config({ master: 'nope0' }), [{ containerID: 'valid', ifname: 'eth0' }]);
    assert.deepEqual([...ipam.held], ['net1/valid/eth0', 'net2/other/eth0']);
    ipam.failing.add('GC');
    await assert.rejects(lab.gc(scene.config(), []), { msg: /stub: GC fails as told/ });
  });

  test(`${type}: STATUS says what ADD would say`, async () => {
    using scene = new StackedScene(subject);
    const { lab, ipam } = scene;
    await lab.status(scene.config());
    await lab.status(scene.config({ master: 'nope0', linkInContainer: true }));
    await assert.rejects(lab.status(scene.config({ master: 'nope0' })), {
      msg: 'master "nope0" not found on the host',
      cniCode: 50,
    });
    await assert.rejects(lab.status(scene.config({ mtu: 2000 })), {
      msg: 'invalid MTU 2000, must be [0, master MTU(1500)]',
      cniCode: 50,
    });
    ipam.failing.add('STATUS');
    await assert.rejects(lab.status(scene.config()), { msg: /stub: STATUS fails as told/ });
    lab.host.run('ip', 'link', 'set', MASTER, 'down');
    await assert.rejects(lab.status(scene.config()), { msg: `master ${MASTER} is down`, cniCode: 51 });
  });
}
