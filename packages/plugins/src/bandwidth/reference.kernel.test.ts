/** The reference's plugin and this one: same input, same shaping, and one takes down what the other set up. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PluginError } from '@heddle/cni';
import { type LabRequest, ReferencePlugins } from '../testing/index.ts';
import { referenceIfbName } from './ifb.ts';
import { BandwidthScene, LIMITS } from './testing.ts';

const attachment = { network: 'cni-plugin-bandwidth-test', containerID: 'dummy', ifName: 'eth0' };
const REFERENCES = [
  ['packaged', ReferencePlugins.find(), ReferencePlugins.ABSENT],
  ['current', ReferencePlugins.findCurrent(), ReferencePlugins.ABSENT_CURRENT],
] as const;

const INPUTS: readonly (readonly [what: string, config: object])[] = [
  ['both directions', LIMITS],
  ['towards the container', { ingressRate: 8000, ingressBurst: 80 }],
  ['from the container', { egressRate: 8000, egressBurst: 80 }],
  ['of the runtime', { runtimeConfig: { bandWidth: { ...LIMITS, ingressRate: 8000, ingressBurst: 800 } } }],
  ['its own before the runtime', { ingressRate: 0, runtimeConfig: { bandwidth: LIMITS } }],
  ['zero', { ingressRate: 0, ingressBurst: 0, egressRate: 0, egressBurst: 0 }],
  ['usual ones', { ingressRate: 123_456_789, ingressBurst: 9_876_543, egressRate: 1e9, egressBurst: 8e8 }],
  ['40 Gbit/s', { ingressRate: 40_000_000_000, ingressBurst: 8_000_000_000 }],
  ['a burst of minutes', { ingressRate: 10_000_000, ingressBurst: 2_147_483_648 }],
  ['a rate without a burst', { ingressRate: 1000 }],
  ['a burst without a rate', { egressBurst: 1000 }],
];

for (const [release, found, absent] of REFERENCES) {
  describe(`the ${release} reference and this plugin`, { skip: found === undefined && absent }, () => {
    const reference = () => found ?? assert.fail('skipped');
    const theirs = (scene: BandwidthScene, command: 'ADD' | 'DEL' | 'CHECK', request: LabRequest): string =>
      reference().run(scene.lab.host, { ...request, command });

    for (const [what, config] of INPUTS) {
      test(`shape alike: ${what}`, async () => {
        const seen = [];
        for (const isOurs of [false, true]) {
          using scene = await BandwidthScene.create();
          const request = scene.request(config);
          try {
            const result = isOurs ? await scene.lab.add(request) : JSON.parse(theirs(scene, 'ADD', request));
            seen.push(await stateOf(scene, result));
          } catch (error) {
            seen.push(error instanceof PluginError ? error.msg : error);
          }
        }
        const [expected, actual] = seen;
        assert.deepEqual(actual, expected);
      });
    }

    test('what the reference added, CHECK accepts and DEL takes down', async () => {
      for (const netns of [undefined, '/run/netns/gone']) {
        using scene = await BandwidthScene.create();
        const before = scene.lab.hostState();
        const request = scene.request();
        const prevResult = JSON.parse(theirs(scene, 'ADD', request));
        await scene.lab.check({ ...request, prevResult });
        assert.deepEqual(await scene.ifbs(), [referenceIfbName(attachment)]);
        await scene.lab.del({ ...request, prevResult, ...(netns && { netns }) });
        assert.equal(scene.lab.hostState(), before);
      }
    });

    test('what this plugin limits towards the container, the reference checks', async () => {
      using scene = await BandwidthScene.create();
      const request = scene.request({ ingressRate: 8000, ingressBurst: 80 });
      const prevResult = await scene.lab.add(request);
      theirs(scene, 'CHECK', { ...request, prevResult });
      theirs(scene, 'DEL', { ...request, prevResult });
    });
  });
}

/** What is to be compared: disciplines, filters and result, with one name for the ifb device. */
async function stateOf(scene: BandwidthScene, result: { interfaces: readonly object[] }): Promise<unknown> {
  const [ifb] = await scene.ifbs();
  const text = (link: string) =>
    scene
      .shaping(link)
      .replaceAll(/bwp\w+/g, 'IFB')
      // The reference writes the same action twice; the first one takes the packet.
      .replaceAll(/\n\taction order 2: mirred[\s\S]*?(?=\n\n|\n?$)/g, '')
      .replaceAll(/ (index|ref|bind|refcnt) \d+/g, '')
      .replaceAll(/\s+/g, ' ');
  return {
    veth: text('hdv0'),
    ifb: ifb && text(ifb),
    link: ifb && scene.lab.host.run('ip', '-o', 'link', 'show', ifb).match(/mtu \d+ qdisc \w+ .*mode/)?.[0],
    interfaces: result.interfaces.length,
  };
}
