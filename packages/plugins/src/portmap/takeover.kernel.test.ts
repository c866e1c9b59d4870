/** Ports that the reference's portmap published, under our verbs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LabRequest, PluginLab, ReferencePlugins } from '../testing/index.ts';
import { portmap } from './index.ts';

type Case = readonly [what: string, config: object, loss: string];

const BY_ITSELF: Case = ['the backend that it takes by itself', {}, 'flush table ip nat'];
const nftables = { backend: 'nftables' };
const NFTABLES: readonly Case[] = [
  ['nftables', nftables, 'flush chain ip cni_hostport masquerading'],
  ['nftables for IPv6', nftables, 'flush chain ip6 cni_hostport output'],
  ['nftables, masqAll', { ...nftables, masqAll: true }, 'flush table ip6 cni_hostport'],
  ['nftables, no snat', { ...nftables, snat: false }, 'flush chain ip cni_hostport hostports'],
  [
    'nftables with conditions',
    { ...nftables, conditionsV4: ['ip', 'saddr', '!=', '192.0.2.9'] },
    'flush chain ip cni_hostport prerouting',
  ],
];
const RELEASES = [
  [
    'the current release',
    ReferencePlugins.findCurrent(),
    ReferencePlugins.ABSENT_CURRENT,
    [BY_ITSELF, ...NFTABLES],
  ],
  // This one has no choice yet.
  ["the distribution's release", ReferencePlugins.find(), ReferencePlugins.ABSENT, [BY_ITSELF]],
] as const;
const mappings = [
  { hostPort: 8080, containerPort: 80, protocol: 'tcp' },
  { hostPort: 53, containerPort: 53, protocol: 'udp', hostIP: '10.9.9.9' },
  { hostPort: 54, containerPort: 53, protocol: 'udp', hostIP: '2001:db8::1' },
];
const prevResult = {
  cniVersion: '1.0.0',
  interfaces: [{ name: 'eth0', sandbox: '/run/netns/x' }],
  ips: [
    { address: '10.77.0.8/20', interface: 0 },
    { address: 'fd77::8/61', interface: 0 },
  ],
};

function request(lab: PluginLab, more: object): LabRequest {
  const config = { type: 'portmap', cniVersion: '1.0.0', runtimeConfig: { portMappings: mappings }, ...more };
  return { config, container: lab.container('c1'), prevResult };
}

for (const [release, reference, absent, cases] of RELEASES) {
  const skip = reference === undefined && absent;
  for (const [what, more, loss] of cases) {
    test(`${release}, ${what}: CHECK accepts it and misses what goes, DEL takes it down`, {
      skip,
    }, async () => {
      using lab = new PluginLab([portmap]);
      lab.host.run('ip link set lo up');
      const call = request(lab, more);
      reference?.run(lab.host, { ...call, command: 'ADD' });
      await lab.del(call);
      const before = lab.hostState();
      reference?.run(lab.host, { ...call, command: 'ADD' });
      await lab.check(call);
      lab.host.run(`nft ${loss}`);
      await assert.rejects(lab.check(call), { cniCode: 150 });
      await lab.del(call);
      reference?.run(lab.host, { ...call, command: 'ADD' });
      await lab.del({ ...call, prevResult: undefined, config: { ...call.config, backend: undefined } });
      assert.equal(lab.hostState(), before);
    });
  }
}
