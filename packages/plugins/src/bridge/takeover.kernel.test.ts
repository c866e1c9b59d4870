/** Attachments of the reference's bridge under our CHECK, GC and DEL, and the other way round. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hostLocal } from '../host-local/index.ts';
import { type LabRequest, PluginLab, ReferencePlugins } from '../testing/index.ts';
import { bridge } from './index.ts';

const reference = ReferencePlugins.find();
const skip = reference === undefined && ReferencePlugins.ABSENT;
const current = ReferencePlugins.findCurrent();
const skipCurrent = current === undefined && ReferencePlugins.ABSENT_CURRENT;

function requestIn(lab: PluginLab, more: object = {}): LabRequest & { config: { cniVersion: string } } {
  const ranges = [[{ subnet: '10.1.2.0/24' }], [{ subnet: 'fd00::/64' }]];
  const config = {
    ...{ type: 'bridge', name: 'net1', bridge: 'br0', cniVersion: '1.0.0' },
    ...{ isDefaultGateway: true, ipMasq: true, hairpinMode: true },
    ipam: { type: 'host-local', dataDir: lab.directory, ranges },
    ...more,
  };
  return { config, container: lab.container() };
}

function leftOf(lab: PluginLab): readonly string[] {
  return [
    ...readdirSync(join(lab.directory, 'net1')).filter(
      (name) => name !== 'lock' && !name.startsWith('last_'),
    ),
    ...lab.host
      .run('iptables-save', '-t', 'nat')
      .split('\n')
      .filter((line) => line.includes('CNI-')),
    ...lab.host
      .run('ip6tables-save', '-t', 'nat')
      .split('\n')
      .filter((line) => line.includes('CNI-')),
    ...lab.host.run('ip', '-o', 'link', 'show', 'type', 'veth').split('\n').filter(Boolean),
  ];
}

test('what the reference added, CHECK accepts and DEL takes down', { skip }, async () => {
  using lab = new PluginLab([bridge, hostLocal]);
  const request = requestIn(lab);
  const prevResult = JSON.parse(reference?.run(lab.host, { ...request, command: 'ADD' }) ?? '');
  await lab.check({ ...request, prevResult });
  lab.host.run('iptables', '-t', 'nat', '-F', 'POSTROUTING');
  await assert.rejects(lab.check({ ...request, prevResult }), { msg: /masquerading/ });
  await lab.del({ ...request, prevResult });
  assert.deepEqual(leftOf(lab), []);
});

for (const [what, loss, said] of [
  [
    'masquerading',
    'inet cni_plugins_masquerade postrouting',
    /missing rule of inet .* postrouting: .*goto masq_checks/,
  ],
  [
    'the check of source addresses',
    'bridge nat PREROUTING',
    /missing rule of bridge nat PREROUTING: iifname/,
  ],
] as const) {
  test(`what the reference's nftables do, CHECK accepts, and misses when it goes: ${what}`, {
    skip: skipCurrent,
  }, async () => {
    using lab = new PluginLab([bridge, hostLocal]);
    const request = requestIn(lab, { ipMasqBackend: 'nftables', macspoofchk: true });
    const prevResult = JSON.parse(current?.run(lab.host, { ...request, command: 'ADD' }) ?? '');
    await lab.check({ ...request, prevResult });
    lab.host.run(`nft flush chain ${loss}`);
    await assert.rejects(lab.check({ ...request, prevResult }), { msg: said, cniCode: 150 });
    await lab.del({ ...request, prevResult });
    assert.doesNotMatch(lab.host.ruleset, /id: c1|c1-eth0/);
    assert.deepEqual(leftOf(lab), []);
  });
}

test("GC takes the reference's masquerading of what is gone", { skip: skipCurrent }, async () => {
  using lab = new PluginLab([bridge, hostLocal]);
  const request = requestIn(lab, { ipMasqBackend: 'nftables', cniVersion: '1.1.0' });
  current?.run(lab.host, { ...request, command: 'ADD' });
  await lab.gc({ ...request.config, name: 'net2' }, []);
  await lab.gc(request.config, [{ containerID: 'c1', ifname: 'eth0' }]);
  assert.match(lab.host.ruleset, /id: c1/);
  await lab.gc(request.config, []);
  assert.doesNotMatch(lab.host.ruleset, /id: c1/);
});

test('what the reference added, DEL takes down without the namespace', { skip }, async () => {
  using lab = new PluginLab([bridge, hostLocal]);
  const request = requestIn(lab);
  const prevResult = JSON.parse(reference?.run(lab.host, { ...request, command: 'ADD' }) ?? '');
  const name = prevResult.interfaces[1].name;
  await lab.del({ ...request, netns: '/run/netns/gone', prevResult });
  assert.deepEqual(
    leftOf(lab).filter((line) => !line.includes(name)),
    [],
  );
});

test('what we added with the iptables backend, the reference checks and takes down', { skip }, async () => {
  using lab = new PluginLab([bridge, hostLocal]);
  const request = requestIn(lab, { ipMasqBackend: 'iptables' });
  const prevResult = await lab.add(request);
  await lab.check({ ...request, prevResult });
  const { ipMasqBackend: _, ...config } = request.config as Record<string, unknown>;
  reference?.run(lab.host, { ...request, config, command: 'CHECK', prevResult });
  reference?.run(lab.host, { ...request, config, command: 'DEL', prevResult });
  assert.deepEqual(leftOf(lab), []);
});
