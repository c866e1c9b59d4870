/** The reference's plugin and this one: same settings, same backup, and one restores what the other changed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PluginError } from '@heddle/cni';
import { type LabRequest, ReferencePlugins } from '../testing/index.ts';
import { TuningScene } from './testing.ts';

const MAC = '00:00:5e:00:53:10';
const MOST = { mac: MAC, promisc: true, mtu: 1454, allmulti: true } as const;
const ALL = { ...MOST, txQLen: 20_000 } as const;
const REFERENCES = [
  ['packaged', ReferencePlugins.find(), ReferencePlugins.ABSENT],
  ['current', ReferencePlugins.findCurrent(), ReferencePlugins.ABSENT_CURRENT],
] as const;

const INPUTS: readonly (readonly [config: object, args?: string])[] = [
  [ALL],
  [MOST],
  [{ mtu: 1454 }],
  [{ txQLen: 0 }],
  [{ allmulti: false }],
  [{ promisc: false, mtu: 0 }],
  [{ mtu: 1400, args: { cni: { ...ALL, promisc: false } } }],
  [{ mac: MAC, runtimeConfig: { mac: '02:00:00:00:00:55' } }, 'MAC=02:00:00:00:00:56'],
  [{ mac: MAC }, 'IgnoreUnknown=1;MAC=02:00:00:00:00:56;X=1'],
  [{}, 'X=1'],
  [{ sysctl: { 'net.ipv4.conf.IFNAME.log_martians': '1', 'net/ipv4/conf/all/log_martians': '1' } }],
  [{ Sysctl: { 'net.ipv4.conf.IFNAME.log_martians': '0' }, TXQLEN: 5 }],
  [{ sysctl: { 'net.ipv4.no_such_thing': '1' } }],
  [{ sysctl: { 'kernel.hostname': 'x' } }],
  [{ mac: 'nonsense' }],
  [{ mtu: -5 }],
  [{ mtu: '1400' }],
];

for (const [release, found, absent] of REFERENCES) {
  describe(`the ${release} reference and this plugin`, { skip: found === undefined && absent }, () => {
    const theirs = (scene: TuningScene, command: 'ADD' | 'DEL' | 'CHECK', request: LabRequest): string =>
      (found ?? assert.fail('skipped')).run(scene.lab.host, { ...request, command });

    // The length of the queue is newer than what distributions package.
    const knows = (config: object) => release === 'current' || !/txQLen/i.test(JSON.stringify(config));
    for (const [config, args = ''] of INPUTS.filter(([config]) => knows(config))) {
      test(`tune alike: ${JSON.stringify(config)} ${args}`, async () => {
        const seen: unknown[] = [];
        for (const isOurs of [false, true]) {
          using scene = await TuningScene.create();
          const request = { ...scene.request(config), args };
          try {
            const result = isOurs ? await scene.lab.add(request) : JSON.parse(theirs(scene, 'ADD', request));
            const added = await stateOf(scene);
            await (isOurs ? scene.lab.del(request) : theirs(scene, 'DEL', request));
            const { interfaces } = result;
            // Kernel parameters stay as they were set with the reference; this plugin sets them back.
            const { martians, ...deleted } = await stateOf(scene);
            if (isOurs) assert.deepEqual(martians, ['0', '0']);
            seen.push({ added, deleted, interfaces: withoutPath(interfaces) });
          } catch (error) {
            assert.ok(error instanceof PluginError);
            seen.push('refused');
          }
        }
        const [expected, actual] = seen;
        assert.deepEqual(actual, expected);
      });
    }

    test('what the reference changed, CHECK accepts and DEL changes back', async () => {
      using scene = await TuningScene.create();
      const before = await scene.link();
      const request = scene.request(release === 'current' ? ALL : MOST);
      const prevResult = JSON.parse(theirs(scene, 'ADD', request));
      await scene.lab.check({ ...request, prevResult });
      await scene.lab.del({ ...request, prevResult });
      assert.deepEqual([await scene.link(), scene.backup()], [before, undefined]);
    });

    test('what this plugin changed, the reference checks and changes back', async () => {
      using scene = await TuningScene.create();
      const before = await scene.link();
      const request = scene.request(release === 'current' ? ALL : MOST);
      const prevResult = await scene.lab.add(request);
      theirs(scene, 'CHECK', { ...request, prevResult });
      theirs(scene, 'DEL', { ...request, prevResult });
      assert.deepEqual([await scene.link(), scene.backup()], [before, undefined]);
    });
  });
}

async function stateOf(scene: TuningScene) {
  const martians = await Promise.all(
    ['all', 'eth0'].map((name) => scene.sysctl(`net/ipv4/conf/${name}/log_martians`)),
  );
  return { link: await scene.link(), backup: scene.backup(), martians };
}

function withoutPath(interfaces: readonly object[]): readonly object[] {
  return interfaces.map((entry) => ('sandbox' in entry ? { ...entry, sandbox: 'the container' } : entry));
}
