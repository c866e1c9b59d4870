/** The reference's plugin and this one: same VRFs, same routes, but for what docs/differences.md lists. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PluginError } from '@heddle/cni';
import { type LabRequest, ReferencePlugins } from '../testing/index.ts';
import { VrfScene } from './testing.ts';

const REFERENCES = [
  ['packaged', ReferencePlugins.find(), ReferencePlugins.ABSENT],
  ['current', ReferencePlugins.findCurrent(), ReferencePlugins.ABSENT_CURRENT],
] as const;

for (const [release, found, absent] of REFERENCES) {
  describe(`vrf: the ${release} reference and this plugin`, { skip: found === undefined && absent }, () => {
    const theirs = (scene: VrfScene, command: 'ADD' | 'DEL' | 'CHECK', request: LabRequest): string =>
      (found ?? assert.fail('skipped')).run(scene.lab.host, { ...request, command });

    // The packaged release loses routes by gateways (containernetworking/plugins#866).
    const movesRoutes = release === 'current';

    const cases = [
      ['one VRF', {}, {}],
      ['two VRFs', {}, { vrfname: 'vrf1' }],
      ['one table for two VRFs', { table: 9 }, { vrfname: 'vrf1', table: 9 }],
      ['two tables for one VRF', { table: 9 }, { table: 10 }],
      ['no name', { vrfname: '' }, {}],
    ] as const;
    // The lab is slow, and the releases differ in routes only.
    for (const [what, first, second] of movesRoutes ? cases : cases.slice(0, 1)) {
      test(`do the same: ${what}`, async () => {
        const seen: unknown[] = [];
        for (const isOurs of [false, true]) {
          using scene = await VrfScene.create({
            eth0: ['192.0.2.10/24', 'fd00::10/64'],
            eth1: ['198.51.100.7/24'],
          });
          scene.ip('-6', 'route', 'add', 'default', 'via', 'fd00::1', 'dev', 'eth0');
          scene.ip('route', 'add', '10.3.0.0/16', 'via', '198.51.100.1', 'dev', 'eth1');
          const steps: unknown[] = [];
          for (const [command, request] of [
            ['ADD', scene.request('eth0', first)],
            ['ADD', scene.request('eth1', second)],
            ['DEL', scene.request('eth0', first)],
            ['DEL', scene.request('eth1', second)],
          ] as const) {
            try {
              if (!isOurs) theirs(scene, command, request);
              else await (command === 'ADD' ? scene.lab.add(request) : scene.lab.del(request));
            } catch (error) {
              assert.ok(error instanceof PluginError, String(error));
              steps.push('refused');
            }
            steps.push([await scene.vrfs(), await routesOf(scene, movesRoutes)]);
          }
          seen.push(steps);
        }
        const [expected, actual] = seen;
        assert.deepEqual(actual, expected);
      });
    }

    test('each takes down what the other set up', async () => {
      using scene = await VrfScene.create({ eth0: ['192.0.2.10/24'] });
      const request = scene.request('eth0');
      theirs(scene, 'ADD', request);
      await scene.lab.check(request);
      await scene.lab.del(request);
      assert.deepEqual(await scene.vrfs(), {});
      await scene.lab.add(request);
      theirs(scene, 'CHECK', request);
      theirs(scene, 'DEL', request);
      assert.deepEqual(await scene.vrfs(), {});
    });
  });
}

async function routesOf(scene: VrfScene, all: boolean): Promise<unknown> {
  const tables = [...new Set(Object.values(await scene.vrfs()).map(({ table }) => table))];
  const found = await Promise.all(tables.map((table) => scene.routes(table)));
  return found.map((routes) => routes.filter((route) => all || !route.includes(' via ')));
}
