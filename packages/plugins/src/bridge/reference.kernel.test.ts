/** The same inputs for the reference's bridge and ours: what an ADD makes, but for what docs/differences.md lists. */
import { test } from 'node:test';
import { CNI_VERSIONS } from '@heddle/cni';
import { hostLocal } from '../host-local/index.ts';
import { makeTheSame } from '../interface/testing.ts';
import { PluginLab, ReferencePlugins } from '../testing/index.ts';
import { bridge } from './index.ts';

const RELEASES = [
  ['the current release', ReferencePlugins.findCurrent(), ReferencePlugins.ABSENT_CURRENT],
  ["the distribution's release", ReferencePlugins.find(), ReferencePlugins.ABSENT],
] as const;

const V4 = [{ subnet: '10.1.2.0/24' }];
const V6 = [{ subnet: 'fd00::/64' }];
const GATEWAY = { isDefaultGateway: true, ipMasq: true };

/** With gateways, the reference takes no second IPv4 network. */
const CASES: readonly (readonly [
  what: string,
  config: object,
  ranges: readonly object[],
  versions: readonly string[],
])[] = [
  ['IPv4', GATEWAY, [V4], CNI_VERSIONS],
  ['IPv6', GATEWAY, [V6], ['1.0.0']],
  ['dual stack', GATEWAY, [V4, V6], ['0.2.0', '1.0.0']],
  ['no gateway', {}, [V4, V6], ['1.0.0']],
  ['two networks', {}, [V4, [{ subnet: '10.1.3.0/24' }]], ['0.4.0']],
  ['flags of the port', { ...GATEWAY, hairpinMode: true, forceAddress: true }, [V4], ['1.0.0']],
];

for (const [release, reference, absent] of RELEASES) {
  for (const [what, more, ranges, versions] of CASES) {
    test(
      `${release}, ${what}: the same result, addresses and routes`,
      {
        skip: reference === undefined && absent,
      },
      () =>
        makeTheSame(
          reference,
          () => new PluginLab([bridge, hostLocal]),
          (lab, cniVersion) => {
            const ipam = { type: 'host-local', dataDir: lab.directory, ranges };
            const config = { type: 'bridge', cniVersion, bridge: 'br0', mtu: 1400, ...more, ipam };
            return { config, container: lab.container('c1') };
          },
          versions,
        ),
    );
  }
}
