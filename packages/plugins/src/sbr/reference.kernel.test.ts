/** The reference's plugin and this one: same rules, same routes, but for what docs/differences.md lists. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PluginError } from '@heddle/cni';
import { type LabRequest, ReferencePlugins } from '../testing/index.ts';
import { NET1, SbrScene, type TestIp } from './testing.ts';

const REFERENCES = [
  ['packaged', ReferencePlugins.find(), ReferencePlugins.ABSENT],
  ['current', ReferencePlugins.findCurrent(), ReferencePlugins.ABSENT_CURRENT],
] as const;
const SECOND: TestIp = { address: '192.168.101.209/24', gateway: '192.168.101.1' };
const V6: TestIp = { address: 'fd00::209/64', gateway: 'fd00::1' };

/** Members of configurations that the packaged release does not know. */
const NEW = /gateways|addSourceHints|"table"/;
const INPUTS: readonly (readonly [
  what: string,
  ips: readonly TestIp[],
  config: object,
  routes: readonly string[],
])[] = [
  ['one address', [NET1], {}, ['192.168.2.0/24 via 192.168.1.2']],
  ['a default route that is there', [NET1], {}, ['default via 192.168.1.1 metric 5']],
  ['two addresses', [NET1, SECOND], {}, ['192.168.2.0/24 via 192.168.1.2', '203.0.113.0/24']],
  ['IPv6', [V6], {}, ['2001:db8::/32 via fd00::7']],
  ['both families', [NET1, V6], {}, []],
  ['no gateway', [{ address: '192.0.2.204/24' }], {}, []],
  ['a table', [NET1, V6], { table: 5000 }, []],
  ['gateways', [NET1, V6], { gateways: ['192.168.1.9', 'fd00::9'] }, []],
  ['two gateways of a family', [NET1], { gateways: ['192.168.1.9', '192.168.1.8'] }, []],
  ['source hints', [NET1], { addSourceHints: true }, ['192.168.2.0/24 via 192.168.1.2']],
  ['no addresses', [], {}, []],
];

for (const [release, found, absent] of REFERENCES) {
  describe(`the ${release} reference and this plugin`, { skip: found === undefined && absent }, () => {
    const theirs = (scene: SbrScene, command: 'ADD' | 'DEL' | 'CHECK', request: LabRequest): string =>
      (found ?? assert.fail('skipped')).run(scene.lab.host, { ...request, command });
    const knows = (config: object) => release === 'current' || !NEW.test(JSON.stringify(config));

    for (const [what, ips, config, routes] of INPUTS.filter(([, , config]) => knows(config))) {
      test(`route alike: ${what}`, async () => {
        const seen: unknown[] = [];
        for (const isOurs of [false, true]) {
          using scene = await SbrScene.create(ips);
          for (const route of routes) scene.ip('route', 'append', ...route.split(' '), 'dev', 'net1');
          const request = scene.request(config);
          try {
            await (isOurs ? scene.lab.add(request) : theirs(scene, 'ADD', request));
            const added = stateOf(scene);
            await (isOurs ? scene.lab.del(request) : theirs(scene, 'DEL', request));
            seen.push({ added, rules: scene.rules() });
          } catch (error) {
            assert.ok(error instanceof PluginError);
            seen.push('refused');
          }
        }
        const [expected, actual] = seen;
        assert.deepEqual(actual, expected);
      });
    }

    test('what the reference set up, CHECK accepts and DEL takes down', async () => {
      using scene = await SbrScene.create([NET1, V6]);
      const request = scene.request();
      theirs(scene, 'ADD', request);
      await scene.lab.check(request);
      await scene.lab.del(request);
      assert.deepEqual(scene.rules(), []);
    });

    test('what this plugin set up, the reference takes down', async () => {
      using scene = await SbrScene.create([NET1, V6]);
      await scene.lab.add(scene.request());
      theirs(scene, 'DEL', scene.request());
      assert.deepEqual(scene.rules(), []);
    });
  });
}

/** The rules, each with the routes that its packets can take, and the main table. */
function stateOf(scene: SbrScene): unknown {
  const rules = scene.rules().map((rule) => {
    const [, from = '', , table = ''] = rule.split(' ');
    const family = from.includes(':') ? ':' : '.';
    return [rule, comparable(scene.routes(table, 'net1')).filter((route) => route.includes(family))];
  });
  return { rules, main: comparable(scene.routes('main', 'net1')) };
}

/** Link-local networks and a second way to the same gateway are told in docs/differences.md. */
function comparable(routes: readonly string[]): readonly string[] {
  return [...new Set(routes.filter((route) => !route.startsWith('fe80::')))];
}
