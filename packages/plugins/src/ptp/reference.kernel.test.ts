/** The same inputs for the reference's ptp and ours, and attachments of one under the verbs of the other. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CNI_VERSIONS, PluginError } from '@heddle/cni';
import { hostLocal } from '../host-local/index.ts';
import { type LabRequest, PluginLab, ReferencePlugins, type TestNetns } from '../testing/index.ts';
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

function requestIn(lab: PluginLab, ranges: object, more: object = {}): LabRequest {
  const routes = ROUTES.filter(({ dst }) =>
    JSON.stringify(ranges).includes(dst.includes(':') ? '::' : '10.'),
  );
  const ipam = { type: 'host-local', dataDir: lab.directory, ranges, routes };
  const config = { type: 'ptp', cniVersion: '1.0.0', mtu: 1400, ipMasq: true, ...more, ipam };
  return { config, container: lab.container('c1') };
}

/** What an ADD made, without what is random. */
function stateOf({ host }: PluginLab, container: TestNetns, result: unknown): object {
  const anonymous = (text: string) => text.replace(/veth[0-9a-f]{8}/g, 'PORT');
  const settled = (text: string) =>
    anonymous(text)
      .split('\n')
      .map((line) => line.replace(/ (metric \d+|pref medium|linkdown|proto kernel)/g, '').trim())
      .filter((line) => line !== '' && !line.startsWith('fe80::'))
      .sort();
  const addresses = (netns: TestNetns) =>
    (
      netns.json('ip', '-j', 'address') as {
        addr_info: { local: string; prefixlen: number; scope: string }[];
      }[]
    )
      .flatMap(({ addr_info }) => addr_info)
      .filter(({ scope }) => scope === 'global')
      .map(({ local, prefixlen }) => `${local}/${prefixlen}`);
  const { dns, ...rest } = result as { cniVersion: string; dns?: object };
  // The distribution's release prints an empty dns in results of 1.x as well.
  const isEmpty = rest.cniVersion.startsWith('1.') && Object.keys(dns ?? {}).length === 0;
  const text = anonymous(JSON.stringify(isEmpty ? rest : result)).replaceAll(container.path, 'SANDBOX');
  return {
    result: JSON.parse(text.replace(/(?:[0-9a-f]{2}:){5}[0-9a-f]{2}/g, 'MAC')),
    host: [addresses(host), settled(host.run('ip', 'route')), settled(host.run('ip', '-6', 'route'))],
    inside: [
      addresses(container),
      settled(container.run('ip', 'route')),
      settled(container.run('ip', '-6', 'route')),
    ],
    mtu: [host, container].map((netns) =>
      /mtu 1400/.test(netns.run('ip', '-o', 'link', 'show', 'type', 'veth')),
    ),
  };
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
      same(reference, versions, ranges),
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

async function same(
  reference: ReferencePlugins | undefined,
  versions: readonly string[],
  ranges: object,
): Promise<void> {
  for (const cniVersion of versions) {
    using theirs = new PluginLab([ptp, hostLocal]);
    using ours = new PluginLab([ptp, hostLocal]);
    const [theirRequest, ourRequest] = [theirs, ours].map((lab) => requestIn(lab, ranges, { cniVersion }));
    assert.ok(theirRequest && ourRequest);
    try {
      const theirResult: unknown = JSON.parse(
        reference?.run(theirs.host, { ...theirRequest, command: 'ADD' }) ?? '',
      );
      const { stdout } = await ours.run({ ...ourRequest, command: 'ADD' });
      assert.deepEqual(
        stateOf(ours, ourRequest.container as unknown as TestNetns, JSON.parse(stdout)),
        stateOf(theirs, theirRequest.container as unknown as TestNetns, theirResult),
        cniVersion,
      );
    } catch (error) {
      // The distribution's release is older than the newest version.
      if (error instanceof PluginError && error.cniCode === 1) continue;
      throw error;
    }
  }
}
