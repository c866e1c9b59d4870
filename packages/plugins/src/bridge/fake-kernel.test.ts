/** The bridge with host-local over a kernel in memory: all of its steps, and a failure at each of them. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dumpDifference, type SeenRequest } from '@heddle/netlink/testing';
import { hostLocal } from '../host-local/index.ts';
import { FakeLab } from '../testing/index.ts';
import { bridge } from './index.ts';

const RANGES = [[{ subnet: '10.1.2.0/24' }], [{ subnet: 'fd00::/64' }]];

/** A network whose data is in the lab's directory. */
function network(
  lab: FakeLab,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const ipam = { type: 'host-local', ranges: RANGES, dataDir: lab.directory, resolvConf: undefined };
  return { ...{ type: 'bridge', bridge: 'br0', isDefaultGateway: true, ipam }, ...more };
}

/** The addresses that host-local has given out. */
function reserved(lab: FakeLab): readonly string[] {
  const directory = join(lab.directory, 'net1');
  if (!existsSync(directory)) return [];
  return readdirSync(directory).filter((name) => /^[0-9a-f.:]+$/.test(name) && !name.startsWith('last'));
}

test('ADD sets up both families, CHECK agrees, DEL leaves what others share', async () => {
  using lab = new FakeLab([bridge, hostLocal]);
  const config = network(lab, { ipMasq: true, macspoofchk: true });
  await lab.del({ config, container: lab.container('first') });
  const warm = { config, container: lab.container('warm') };
  await lab.add(warm);
  await lab.del(warm);
  await lab.kernel.settle();
  const before = lab.kernel.dump('host');

  const request = { config, container: lab.container('pod') };
  const prevResult = await lab.add(request);
  assert.deepEqual(
    prevResult.ips?.map(({ address, gateway }) => `${address} ${gateway}`),
    ['10.1.2.3/24 10.1.2.1', 'fd00::3/64 fd00::1'],
  );
  const { addresses, routes, links } = request.container.session;
  const own = (await addresses.list({ link: 'eth0' })).filter(({ scope }) => scope === 0);
  assert.deepEqual(
    own.map(({ prefix, tentative }) => `${prefix} ${tentative}`),
    ['10.1.2.3/24 false', 'fd00::3/64 false'],
  );
  const defaults = (await routes.list({ table: 254 })).filter(({ dst }) => dst.bits === 0);
  assert.deepEqual(
    defaults.map(({ gateway }) => `${gateway}`),
    ['10.1.2.1', 'fd00::1'],
  );
  assert.equal((await links.get('eth0')).operstate, 'up');
  assert.equal((await lab.host.links.get('br0')).operstate, 'up');
  assert.equal(await lab.host.sysctl.read('net/ipv4/ip_forward'), '1');
  assert.match(lab.kernel.dump('host'), /set masquerade4 element 10\.1\.2\.3 /);
  await lab.check({ ...request, prevResult });

  await lab.del({ ...request, prevResult });
  await lab.del({ ...request, prevResult });
  assert.equal(dumpDifference(before, lab.kernel.dump('host')), '');
  assert.deepEqual(reserved(lab), []);
});

test('whichever request of ADD fails, it leaves no more than was there before', async () => {
  using lab = new FakeLab([bridge, hostLocal]);
  const config = network(lab, { ipMasq: true, macspoofchk: true, vlan: 100 });
  const warm = { config, container: lab.container('warm') };
  await lab.add(warm);
  await lab.del(warm);
  await lab.kernel.settle();
  const before = lab.kernel.dump();
  let changes = 0;
  for (let at = 1; ; at++) {
    const container = lab.container(`pod${at}`);
    let seen = 0;
    let isAdding = true;
    let failed: string | undefined;
    const isTheOne = ({ name }: SeenRequest): boolean => {
      if (/GET/.test(name) || !isAdding || failed !== undefined) return false;
      seen++;
      if (seen === at) failed = name;
      return seen === at;
    };
    lab.kernel.failNext({ match: isTheOne, errno: 'ENOMEM' });
    const { exitCode, stdout } = await lab.run({ command: 'ADD', config, container });
    isAdding = false;
    if (failed === undefined) {
      assert.equal(exitCode, 0, stdout);
      changes = at - 1;
      await lab.del({ config, container });
      break;
    }
    assert.notEqual(exitCode, 0, `the failure of ${failed} (change ${at}) was not told`);
    await lab.kernel.settle();
    const left = dumpDifference(before, lab.kernel.dump())
      .split('\n')
      .filter((line) => line !== '' && !isOwnOfContainer(line));
    assert.deepEqual(left, [], `after ${failed} (change ${at}) failed`);
    assert.deepEqual(reserved(lab), [], `after ${failed} (change ${at}) failed`);
  }
  assert.ok(changes > 15, `${changes} changes`);
});

/** A container's own, which is there before ADD and behind it. */
function isOwnOfContainer(line: string): boolean {
  return /^\+ pod\d+: (link lo |sysctl )/.test(line);
}

for (const [what, config, expected] of [
  ['none', {}, ['1 pvid untagged']],
  ['one of its own', { vlan: 100 }, ['100 pvid untagged']],
  ['one beside the default', { vlan: 100, preserveDefaultVlan: true }, ['1 untagged', '100 pvid untagged']],
  [
    'a trunk',
    { vlanTrunk: [{ minID: 100, maxID: 102 }, { id: 10 }, { minID: 102, maxID: 103 }] },
    ['1 pvid untagged', '10', '100', '101', '102', '103'],
  ],
  ['a trunk with one of its own', { vlan: 9, vlanTrunk: [{ id: 9 }, { id: 10 }] }, ['9 pvid untagged', '10']],
] as const) {
  test(`VLANs of the port: ${what}`, async () => {
    using lab = new FakeLab([bridge, hostLocal]);
    const request = { config: { type: 'bridge', bridge: 'br0', ...config }, container: lab.container() };
    const prevResult = await lab.add(request);
    const port = prevResult.interfaces?.[1]?.name ?? '';
    const vlans = await lab.host.bridge.vlans(port);
    assert.deepEqual(
      vlans.map(({ id, pvid, untagged }) =>
        [id, pvid && 'pvid', untagged && 'untagged'].filter(Boolean).join(' '),
      ),
      expected,
    );
    const { data } = await lab.host.links.get('br0');
    assert.equal(data?.kind === 'bridge' && data.vlanFiltering, 'vlan' in config || 'vlanTrunk' in config);
    await lab.check({ ...request, prevResult });
    await lab.host.bridge.deleteVlan(port, { id: vlans.find(({ pvid }) => pvid)?.id ?? 0 });
    if (Object.keys(config).length > 0) {
      await assert.rejects(lab.check({ ...request, prevResult }), { msg: /should be untagged in VLAN/ });
    }
    await lab.del({ ...request, prevResult });
    assert.deepEqual(await lab.host.links.list({ kind: 'veth' }), []);
  });
}

test('the gateway of a VLAN is a link of its own, shared by its attachments', async () => {
  using lab = new FakeLab([bridge, hostLocal]);
  const config = network(lab, { vlan: 100 });
  const results = [
    await lab.add({ config, container: lab.container() }),
    await lab.add({ config, container: lab.container() }),
  ];
  const gateway = await lab.host.links.get('br0.100');
  for (const { interfaces } of results)
    assert.deepEqual(interfaces?.[3], { name: 'br0.100', mac: `${gateway.mac}` });
  const port = await lab.host.links.get(gateway.parent ?? 0);
  assert.deepEqual(await lab.host.bridge.vlans(port.name), [{ id: 100, pvid: true, untagged: true }]);
  const held = (await lab.host.addresses.list({ link: 'br0.100' })).filter(({ scope }) => scope === 0);
  assert.deepEqual(
    held.map(({ prefix }) => `${prefix}`),
    ['10.1.2.1/24', 'fd00::1/64'],
  );
  assert.deepEqual(await lab.host.addresses.list({ link: 'br0', family: 4 }), []);
});

test('where the kernel cannot filter VLANs, ADD says so and leaves nothing', async () => {
  using lab = new FakeLab([bridge, hostLocal], { without: ['bridge-vlan'] });
  const before = lab.kernel.dump();
  const container = lab.container();
  await assert.rejects(lab.add({ config: network(lab, { vlan: 100 }), container }), { msg: /EOPNOTSUPP/ });
  assert.equal(lab.kernel.dump('host'), before);
});
