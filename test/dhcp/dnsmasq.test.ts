/** The plugin and its daemon against dnsmasq: what upstream's own tests ask for, and more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missing } from '../support/programs.ts';
import { DhcpLab } from './dhcp-lab.ts';

const skip = missing('dnsmasq');
const ONE_ADDRESS = ['--dhcp-range=192.168.1.5,192.168.1.5,2m', '--dhcp-option=3,192.168.1.1'];

test('a lease is got, checked and given back', { skip }, async () => {
  using lab = new DhcpLab();
  const server = lab.dnsmasq(undefined, [
    ...ONE_ADDRESS,
    ...['--dhcp-option=6,192.168.1.53', '--domain=example.org', '--dhcp-option=119,a.example,b.example'],
  ]);
  await lab.daemon();
  const pod = lab.pod('c1');
  const result = await lab.add({ pod });
  assert.deepEqual(result, {
    cniVersion: '1.1.0',
    ips: [{ address: '192.168.1.5/24', gateway: '192.168.1.1' }],
    routes: [{ dst: '0.0.0.0/0', gw: '192.168.1.1' }],
    dns: { nameservers: ['192.168.1.53'], domain: 'example.org', search: ['a.example', 'b.example'] },
  });
  await lab.run('CHECK', { pod, prevResult: result });
  await assert.rejects(
    lab.run('CHECK', { pod, prevResult: { ...result, ips: [{ address: '192.168.1.6/24' }] } }),
    { cniCode: 150, msg: 'the lease of eth0 is of 192.168.1.5/24, but the result has 192.168.1.6/24' },
  );
  await lab.run('DEL', { pod });
  await server.said(/DHCPRELEASE\(eth0\) 192\.168\.1\.5/);
  await assert.rejects(lab.run('CHECK', { pod }), {
    cniCode: 150,
    msg: 'dhcp: no lease is kept for eth0 of container c1',
  });
  await lab.run('DEL', { pod });
});

test('an exhausted pool: "no more tries", and DEL of what failed', { skip }, async () => {
  using lab = new DhcpLab();
  lab.dnsmasq(undefined, ONE_ADDRESS);
  await lab.daemon('-timeout', '1s', '-resendmax', '2s', '--resendtimeout', '3s');
  const pod = lab.pod('c1', ['eth0', 'eth1']);
  await lab.add({ pod });
  await assert.rejects(lab.add({ pod, ifName: 'eth1' }), (error) => {
    assert.ok(error instanceof Error);
    // Exactly this: others match on it.
    assert.equal(error.message, 'error calling DHCP.Allocate: no more tries');
    return true;
  });
  await lab.run('DEL', { pod, ifName: 'eth1' });
  await lab.run('DEL', { pod });
  await lab.add({ pod, ifName: 'eth1' });
});

test('options are provided and requested as the configuration says', { skip }, async () => {
  using lab = new DhcpLab();
  const server = lab.dnsmasq(undefined, [
    ...ONE_ADDRESS,
    ...[
      '--dhcp-option=121,10.0.0.0/8,192.168.1.2,198.51.100.0/24,0.0.0.0',
      '--dhcp-option=33,10.1.2.3,192.168.1.3',
    ],
    '--dhcp-option=6,192.168.1.53',
  ]);
  await lab.daemon();
  const pod = lab.pod('c1');
  const ipam = {
    priority: 77,
    provide: [
      { option: 'host-name', value: 'default', fromArg: 'K8S_POD_NAME' },
      { option: '60', value: 'vendor-x' },
      { option: 'user-class', fromArg: 'ABSENT' },
    ],
  };
  const args = 'IgnoreUnknown=1;K8S_POD_NAME=web-0;junk';
  const all = await lab.add({ pod, ipam, args });
  assert.deepEqual(all.routes, [
    { dst: '10.0.0.0/8', gw: '192.168.1.2', priority: 77 },
    { dst: '198.51.100.0/24', gw: '0.0.0.0', scope: 253, priority: 77 },
  ]);
  await server.said('client provides name: web-0');
  await server.said('vendor class: vendor-x');
  assert.ok(!server.output.includes('user class:'));
  await lab.run('DEL', { pod });

  const request = [{ skipDefault: true }, { option: 'routers' }, { option: 'subnet-mask' }, { option: '33' }];
  const few = await lab.add({ pod, ipam: { request } });
  assert.deepEqual(few.routes, [
    { dst: '10.1.2.3/32', gw: '192.168.1.3' },
    { dst: '0.0.0.0/0', gw: '192.168.1.1' },
  ]);
  assert.equal(few.dns, undefined);
});

test('an address that somebody on the link has is declined', { skip }, async () => {
  using lab = new DhcpLab();
  const server = lab.dnsmasq(undefined, ['--dhcp-range=192.168.1.5,192.168.1.6,2m', '--dhcp-sequential-ip']);
  const squatter = lab.pod('squatter');
  squatter.run('ip', 'address', 'add', '192.168.1.5/24', 'dev', 'eth0');
  squatter.run('ip', 'link', 'set', 'eth0', 'up');
  const daemon = await lab.daemon();
  const result = await lab.add({ pod: lab.pod('c1') });
  assert.equal(result.ips?.[0]?.address, '192.168.1.6/24');
  await server.said('DHCPDECLINE(eth0) 192.168.1.5');
  await daemon.said(/192\.168\.1\.5, which 192\.168\.1\.1 leased, is in use by .*: declined/);
});

test('GC gives back what no attachment has any more', { skip }, async () => {
  using lab = new DhcpLab();
  const server = lab.dnsmasq();
  await lab.daemon();
  // A network of its own: the mark of another test's ADD of a c1 would keep this one's lease.
  const network = `gc${process.pid}`;
  const [one, two, other] = [lab.pod('c1'), lab.pod('c2'), lab.pod('c3')];
  await lab.add({ pod: one, network });
  await lab.add({ pod: two, network });
  await lab.add({ pod: other, network: 'net2' });
  const valid = [{ containerID: 'c2', ifname: 'eth0' }];
  await lab.run('GC', { pod: one, network }, { 'cni.dev/valid-attachments': valid });
  await server.said('DHCPRELEASE');
  await assert.rejects(lab.run('CHECK', { pod: one, network }), /no lease is kept/);
  await lab.run('CHECK', { pod: two, network });
  await lab.run('CHECK', { pod: other, network: 'net2' });
});

test('a pod whose namespace is gone takes its lease along', { skip }, async () => {
  using lab = new DhcpLab();
  lab.dnsmasq();
  const daemon = await lab.daemon();
  const pod = lab.pod('c1');
  const { path } = pod;
  await lab.add({ pod });
  pod[Symbol.dispose]();
  await lab.run('DEL', { pod, netns: path });
  await daemon.said(/could not give .* back: /);
});

test('the daemon keeps no pod’s namespace alive', { skip }, async () => {
  using lab = new DhcpLab();
  lab.dnsmasq();
  const daemon = await lab.daemon();
  const pods = ['c1', 'c2', 'c3'].map((id) => lab.pod(id));
  await Promise.all(pods.map((pod) => lab.add({ pod })));
  const pid = daemon.process.pid ?? 0;
  const open = lab.node.run('ls', '-l', `/proc/${pid}/fd`);
  assert.doesNotMatch(open, /net:\[/);
  assert.deepEqual(socketsInPods(lab, open), []);
});

/** The packet and UDP sockets in the pods that are among a process's descriptors. */
function socketsInPods(lab: DhcpLab, descriptors: string): readonly string[] {
  const own = new Set([...descriptors.matchAll(/socket:\[(\d+)\]/g)].map(([, inode]) => inode));
  const tables = ['packet', 'udp'].flatMap((name) =>
    lab.pods.map((pod) => pod.run('cat', `/proc/thread-self/net/${name}`)),
  );
  const lines = tables.flatMap((table) => table.split('\n'));
  return lines.filter((line) => line.split(/\s+/).some((word) => own.has(word)));
}
