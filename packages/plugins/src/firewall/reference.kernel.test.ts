/** The reference's plugin and this one: same input, same rules, and either takes away what the other added. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PluginError } from '@heddle/cni';
import { type LabConfig, type LabRequest, type PluginLab, ReferencePlugins } from '../testing/index.ts';
import { FirewallLab, type Pod, saved } from './testing.ts';

const REFERENCES = [
  ['packaged', ReferencePlugins.find(), ReferencePlugins.ABSENT],
  ['current', ReferencePlugins.findCurrent(), ReferencePlugins.ABSENT_CURRENT],
] as const;

const INPUTS: readonly (readonly [what: string, ...adds: (readonly [config: LabConfig, pod?: Pod])[]])[] = [
  ['a pod', [{}]],
  ['a pod, twice', [{}], [{}]],
  ['IPv4 only', [{}, { ips: ['10.1.2.5/24'] }]],
  ['IPv6 only', [{}, { ips: ['fd01::5/64'] }]],
  ['two addresses of a family', [{}, { ips: ['10.1.2.5/24', '10.1.3.5/24'] }]],
  ['no addresses', [{}, { ips: [] }]],
  ['another chain of the operator', [{ iptablesAdminChainName: 'OPS' }]],
  ['two pods', [{}], [{}, { id: 'c2', ips: ['10.1.2.6/24'] }]],
  ['same-bridge', [{ ingressPolicy: 'same-bridge' }]],
  ['isolated', [{ ingressPolicy: 'isolated' }]],
  [
    'two bridges',
    [{ ingressPolicy: 'same-bridge' }],
    [{ ingressPolicy: 'isolated' }, { id: 'c2', ips: ['10.1.4.6/24'], bridge: 'br1' }],
  ],
  ['open, then same-bridge', [{ ingressPolicy: '' }], [{ ingressPolicy: 'same-bridge' }]],
  ['an unknown backend', [{ backend: 'ipfw' }]],
  ['an unknown policy', [{ ingressPolicy: 'closed' }]],
  ['version 0.4.0', [{ cniVersion: '0.4.0' }]],
];

for (const [release, found, absent] of REFERENCES) {
  describe(`the ${release} reference and this plugin`, { skip: found === undefined && absent }, () => {
    const theirs = (lab: PluginLab, command: 'ADD' | 'DEL' | 'CHECK', request: LabRequest): unknown => {
      const output = (found ?? assert.fail('skipped')).run(lab.host, { ...request, command });
      return output === '' ? undefined : JSON.parse(output);
    };
    /** That release has one comment for all rules of a policy, and no policy `isolated`. */
    const isOld = release === 'packaged';

    for (const [what, ...adds] of INPUTS) {
      const isNew = adds.some(([{ ingressPolicy = 'open' }]) => ingressPolicy === 'isolated');
      test(`write alike: ${what}`, {
        skip: isOld && isNew && 'that release has no policy isolated',
      }, async () => {
        const seen: unknown[] = [];
        for (const isOurs of [false, true]) {
          using lab = new FirewallLab();
          try {
            for (const [config, pod] of adds) {
              const request = lab.request(config, pod);
              const result = isOurs ? JSON.parse(await output(lab, request)) : theirs(lab, 'ADD', request);
              seen.push(withoutEmptyDns(result));
            }
          } catch (error) {
            seen.push(error instanceof PluginError ? error.msg : error);
            continue;
          }
          seen.push(comparable(saved(lab.host), isOld));
        }
        assert.deepEqual(seen.slice(seen.length / 2), seen.slice(0, seen.length / 2));
      });
    }

    for (const ingressPolicy of ['open', 'same-bridge']) {
      test(`either checks and removes what the other added: ${ingressPolicy}`, async () => {
        using lab = new FirewallLab();
        const request = lab.request({ ingressPolicy });
        await lab.add(request);
        await lab.del(request);
        const empty = saved(lab.host);
        await lab.add(request);
        const full = saved(lab.host);
        theirs(lab, 'CHECK', request);
        theirs(lab, 'DEL', request);
        assert.equal(saved(lab.host), empty);
        theirs(lab, 'ADD', request);
        if (!isOld) assert.equal(saved(lab.host), full);
        await lab.check(request);
        await lab.del(request);
        if (!isOld) assert.equal(saved(lab.host), empty);
      });
    }

    test('an ADD after theirs adds nothing', async () => {
      using lab = new FirewallLab();
      const request = lab.request({ ingressPolicy: 'same-bridge' });
      theirs(lab, 'ADD', request);
      const before = saved(lab.host);
      await lab.add(request);
      assert.equal(saved(lab.host), before);
    });
  });
}

/** The specification leaves it open whether a result without DNS says so. */
function withoutEmptyDns(result: unknown): unknown {
  const { dns, ...rest } = result as { dns?: object };
  return dns === undefined || Object.keys(dns).length === 0 ? rest : result;
}

async function output(lab: PluginLab, request: LabRequest): Promise<string> {
  const { exitCode, stdout } = await lab.run({ ...request, command: 'ADD' });
  if (exitCode !== 0) throw PluginError.fromJson('firewall', JSON.parse(stdout));
  return stdout;
}

function comparable(text: string, isOld: boolean): string {
  return isOld
    ? text.replaceAll('(ingressPolicy: same-bridge|isolated)', '(ingressPolicy: same-bridge)')
    : text;
}
