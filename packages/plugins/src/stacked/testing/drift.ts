/** Tests that CHECK finds each kind of drift, and lets pass what other plugins of a chain may have done. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '@heddle/cni';
import type { Container, LabConfig } from '../../testing/index.ts';
import { MASTER, POD, StackedScene, type Subject } from './scene.ts';

/** An attachment that is to drift. */
export interface Attached {
  readonly subject: Subject;
  readonly scene: StackedScene;
  readonly container: Container;
  readonly config: LabConfig;
  readonly result: Result;
  /** `ip` in the container. */
  inside(...args: readonly string[]): void;
}

/** A way to drift: its name, how it comes about, and what CHECK says of it. */
export type Drift = readonly [what: string, make: (attached: Attached) => unknown, said: RegExp];

const DRIFTS: readonly Drift[] = [
  ['link gone', ({ inside }) => inside('link', 'delete', 'eth0'), /link eth0 is missing/],
  ['link down', ({ inside }) => inside('link', 'set', 'eth0', 'down'), /link eth0 should be up/],
  [
    'a link of another kind',
    ({ inside }) => {
      inside('link', 'delete', 'eth0');
      inside('link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth1');
    },
    /link eth0 should be a \w+, but is a veth/,
  ],
  [
    'another MTU',
    ({ inside }) => inside('link', 'set', 'eth0', 'mtu', '1300'),
    /link eth0 should have the MTU 1400, but has 1300/,
  ],
  [
    'master gone',
    ({ scene }) => scene.lab.host.run('ip', 'link', 'set', MASTER, 'name', 'hd9'),
    /master hd0 is missing/,
  ],
  [
    'another master',
    ({ subject, scene, container, inside }) => {
      const { host } = scene.lab;
      inside('link', 'delete', 'eth0');
      host.run('ip', 'link', 'add', 'hd8', 'type', 'veth', 'peer', 'name', 'hd7');
      const link = ['link', 'hd8', 'name', 'eth0', 'netns', container.path];
      host.run('ip', 'link', 'add', ...link, 'type', subject.plugin.type, ...subject.linkOptions);
    },
    /link eth0 should be on hd0/,
  ],
  [
    'IPv4 address missing',
    ({ inside }) => inside('address', 'delete', `${POD[0]}/24`, 'dev', 'eth0'),
    /address 10\.1\.2\.2\/24 is missing on eth0/,
  ],
  [
    'IPv6 address missing',
    ({ inside }) => inside('address', 'delete', `${POD[1]}/64`, 'dev', 'eth0'),
    /address fd00::2\/64 is missing on eth0/,
  ],
  [
    'route to the network missing',
    ({ inside }) => inside('route', 'delete', '10.1.2.0/24', 'dev', 'eth0'),
    /the route to 10\.1\.2\.0\/24 is missing on eth0/,
  ],
  [
    'default route missing',
    ({ inside }) => inside('route', 'delete', 'default'),
    /the route to 0\.0\.0\.0\/0 is missing/,
  ],
  [
    'IPv6 default route missing',
    ({ inside }) => inside('-6', 'route', 'delete', 'default'),
    /the route to ::\/0 is missing/,
  ],
  ['reservation missing', ({ scene }) => scene.ipam.held.clear(), /stub: net1\/c1\/eth0 holds no address/],
];

/** Registers the tests. */
export function testDrift(subject: Subject, own: readonly Drift[]): void {
  const { type } = subject.plugin;
  for (const [what, make, said] of [...DRIFTS, ...own]) {
    test(`${type}: CHECK finds drift: ${what}`, async () => {
      await withAttachment(subject, async (attached) => {
        const { scene, config, container, result: prevResult } = attached;
        await scene.lab.check({ config, container, prevResult });
        make(attached);
        const checked = scene.lab.check({ config, container, prevResult });
        await assert.rejects(checked, { msg: said, cniCode: 150 });
      });
    });
  }

  test(`${type}: CHECK lets pass what others add: addresses, routes, other tables, interfaces`, async () => {
    await withAttachment(subject, async ({ scene, config, container, result, inside }) => {
      inside('address', 'add', '10.9.9.9/24', 'dev', 'eth0');
      inside('route', 'add', '198.51.100.0/24', 'via', '10.1.2.1');
      inside('route', 'delete', 'default');
      inside('route', 'add', 'default', 'via', '10.1.2.1', 'table', '100');
      const interfaces = [...(result.interfaces ?? []), { name: 'vrf0', sandbox: container.path }];
      await scene.lab.check({ config, container, prevResult: { ...result, interfaces } });
    });
  });

  test(`${type}: CHECK without a previous result, and with one of another namespace`, async () => {
    await withAttachment(subject, async ({ scene, config, container, result }) => {
      await assert.rejects(scene.lab.check({ config, container }), { msg: 'Required prevResult missing' });
      const interfaces = result.interfaces?.map((each) => ({ ...each, sandbox: '/run/netns/x' }));
      const checked = scene.lab.check({ config, container, prevResult: { ...result, interfaces } });
      await assert.rejects(checked, { msg: /sandbox mismatch/ });
    });
  });
}

async function withAttachment(subject: Subject, run: (attached: Attached) => Promise<void>): Promise<void> {
  using scene = new StackedScene(subject);
  const container = scene.container();
  const config = scene.config({ mtu: 1400 });
  const result = await scene.lab.add({ config, container });
  const inside = (...args: readonly string[]) => void container.run('ip', ...args);
  await run({ subject, scene, container, config, result, inside });
}
