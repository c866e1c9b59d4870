/** The daemon against Kea: its times, a pool that runs out, and many leases at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missing } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { DhcpLab } from './dhcp-lab.ts';

const skip = missing('kea-dhcp4');

function subnet(pool: string, times: Readonly<Record<string, number>>) {
  return {
    ...times,
    subnet4: [
      {
        id: 1,
        subnet: '192.168.0.0/16',
        pools: [{ pool }],
        'option-data': [
          { name: 'routers', data: '192.168.0.1' },
          { name: 'domain-name-servers', data: '192.168.0.53' },
        ],
      },
    ],
    loggers: [
      {
        name: 'kea-dhcp4',
        severity: 'DEBUG',
        debuglevel: 50,
        output_options: [{ output: 'stdout', flush: true }],
      },
    ],
  };
}

test('the server’s own times are kept to', { skip }, async () => {
  using lab = new DhcpLab();
  const times = { 'valid-lifetime': 600, 'renew-timer': 2, 'rebind-timer': 400 };
  const server = lab.kea('192.168.0.1/16', subnet('192.168.1.5 - 192.168.1.9', times));
  await server.said('DHCP4_STARTED');
  await lab.daemon('-timeout', '1s');
  const pod = lab.pod('c1');
  const result = await lab.add({ pod });
  assert.deepEqual(result.ips, [{ address: '192.168.1.5/16', gateway: '192.168.0.1' }]);
  assert.deepEqual(result.dns, { nameservers: ['192.168.0.53'] });
  pod.configure(result);
  const acks = () => server.output.split('DHCP4_LEASE_ALLOC').length - 1;
  await until('two renewals', () => acks() >= 3 || undefined);
  await lab.run('CHECK', { pod, prevResult: result });
  await lab.run('DEL', { pod });
  await server.said(/DHCP4_RELEASE .*192\.168\.1\.5/);
});

test('a pool that runs out', { skip }, async () => {
  using lab = new DhcpLab();
  const server = lab.kea('192.168.0.1/16', subnet('192.168.1.5 - 192.168.1.6', { 'valid-lifetime': 600 }));
  await server.said('DHCP4_STARTED');
  await lab.daemon('-timeout', '1s', '-resendtimeout', '3s');
  const pods = ['c1', 'c2', 'c3'].map((id) => lab.pod(id));
  const outcomes = await Promise.allSettled(pods.map((pod) => lab.add({ pod })));
  const failures = outcomes.flatMap((each) =>
    each.status === 'rejected' ? [String(each.reason.message)] : [],
  );
  assert.deepEqual(failures, ['error calling DHCP.Allocate: no more tries']);
  for (const pod of pods) await lab.run('DEL', { pod });
});

test('two hundred leases in one daemon, all kept over its death', { skip }, async () => {
  using lab = new DhcpLab();
  const times = { 'valid-lifetime': 600, 'renew-timer': 15, 'rebind-timer': 400 };
  const server = lab.kea('192.168.0.1/16', subnet('192.168.1.1 - 192.168.2.255', times));
  await server.said('DHCP4_STARTED');
  const first = await lab.daemon();
  const pods = Array.from({ length: 200 }, (_, index) => lab.pod(`c${index}`));
  const addresses = new Set<string>();
  for (let at = 0; at < pods.length; at += 20) {
    await Promise.all(
      pods.slice(at, at + 20).map(async (pod) => {
        const result = await lab.add({ pod });
        pod.configure(result);
        addresses.add(result.ips?.[0]?.address ?? '');
      }),
    );
  }
  assert.equal(addresses.size, 200);
  await first.end('SIGKILL');
  const second = await lab.daemon();
  assert.equal(second.output.split('goes on with').length - 1, 200);
  const before = server.output.length;
  await until('all leases to be renewed', () => all(200, renewed(server.output.slice(before))), 60);
  for (let at = 0; at < pods.length; at += 20) {
    await Promise.all(pods.slice(at, at + 20).map((pod) => lab.run('DEL', { pod })));
  }
  await until('all leases to be given back', () => all(200, released(server.output)));
});

function all(count: number, addresses: ReadonlySet<string>): true {
  if (addresses.size >= count) return true;
  throw new Error(`only ${addresses.size} of ${count}: ${[...addresses].sort().join(' ')}`);
}

function renewed(log: string): ReadonlySet<string> {
  return new Set(
    [...log.matchAll(/DHCP4_LEASE_ALLOC .* lease (\S+) has been allocated/g)].map(
      ([, address]) => address ?? '',
    ),
  );
}

function released(log: string): ReadonlySet<string> {
  return new Set([...log.matchAll(/DHCP4_RELEASE .*address (\S+)/g)].map(([, address]) => address ?? ''));
}
