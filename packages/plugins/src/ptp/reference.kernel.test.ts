/** The same inputs for the reference's ptp and ours, and attachments of one under the verbs of the other. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CNI_VERSIONS } from '@heddle/cni';
import { hostLocal } from '../host-local/index.ts';
import { makeTheSame } from '../interface/testing.ts';
import { type Container, type LabRequest, PluginLab, ReferencePlugins } from '../testing/index.ts';
import { ptp } from './index.ts';

const RELEASES = [
  ['the current release', ReferencePlugins.findCurrent(), ReferencePlugins.ABSENT_CURRENT],
  ["the distribution's release", ReferencePlugins.find(), ReferencePlugins.ABSENT],
] as const;

const RANGES = {
  IPv4: [[{ subnet: '10.1.2.0/24' }]],
  IPv6: [[{ subnet: 'fd00::/64' }]],
  'dual stack': [[{ subnet: '10.1.2.0/24' }], [{ subnet: 'fd00::/64' }]],
};
// The reference waits two seconds for its IPv6 addresses.
const CASES = [
  ['IPv4', CNI_VERSIONS, RANGES.IPv4],
  ['IPv6', ['1.0.0'], RANGES.IPv6],
  ['dual stack', ['0.2.0', '1.0.0'], RANGES['dual stack']],
] as const;
const ROUTES = [{ dst: '0.0.0.0/0' }, { dst: '::/0' }, { dst: '192.0.2.0/24', gw: '10.1.2.1' }];

function requestIn(lab: PluginLab, ranges: object, more: object = {}): LabRequest & { container: Container } {
  const routes = ROUTES.filter(({ dst }) =>
    JSON.stringify(ranges).includes(dst.includes(':') ? '::' : '10.'),
  );
  const ipam = { type: 'host-local', dataDir: lab.directory, ranges, routes };
  const config = { type: 'ptp', cniVersion: '1.0.0', mtu: 1400, ipMasq: true, ...more, ipam };
  return { config, container: lab.container('c1') };
}

function leftOf(lab: PluginLab): readonly string[] {
  const lines = (program: string, ...args: string[]) => lab.host.run(program, ...args).split('\n');
  return [
    ...readdirSync(join(lab.directory, 'net1')).filter(
      (name) => name !== 'lock' && !name.startsWith('last_'),
    ),
    ...lines('iptables-save', '-t', 'nat').filter((line) => line.includes('CNI-')),
    ...lines('ip6tables-save', '-t', 'nat').filter((line) => line.includes('CNI-')),
    ...lines('nft', 'list', 'ruleset').filter((line) => line.includes('net: net1')),
    ...lines('ip', '-o', 'link', 'show', 'type', 'veth').filter(Boolean),
  ];
}

for (const [release, reference, absent] of RELEASES) {
  const skip = reference === undefined && absent;
  for (const [what, versions, ranges] of CASES) {
    test(`${release}, ${what}: the same result, addresses and routes`, { skip }, () =>
      makeTheSame(
        reference,
        () => new PluginLab([ptp, hostLocal]),
        (lab, cniVersion) => requestIn(lab, ranges, { cniVersion }),
        versions,
      ),
    );
  }

  test(`${release}: what it added, CHECK accepts and DEL takes down`, { skip }, async () => {
    using lab = new PluginLab([ptp, hostLocal]);
    for (const backend of ['iptables', 'nftables']) {
      // The distribution's release has no choice yet.
      const request = requestIn(lab, RANGES['dual stack'], { ipMasqBackend: backend });
      const prevResult = JSON.parse(reference?.run(lab.host, { ...request, command: 'ADD' }) ?? '');
      const loose = { ...request, config: { ...request.config, ipMasqBackend: undefined } };
      if (backend === 'iptables') await lab.check({ ...loose, prevResult });
      await lab.del({ ...loose, prevResult });
      assert.deepEqual(leftOf(lab), []);
    }
  });

  test(`${release}: what we added with iptables, it checks and takes down`, { skip }, async () => {
    using lab = new PluginLab([ptp, hostLocal]);
    const request = requestIn(lab, RANGES['dual stack'], { ipMasqBackend: 'iptables' });
    const prevResult = await lab.add(request);
    reference?.run(lab.host, { ...request, command: 'CHECK', prevResult });
    reference?.run(lab.host, { ...request, command: 'DEL', prevResult });
    assert.deepEqual(leftOf(lab), []);
  });
}
