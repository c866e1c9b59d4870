/** The daemon against ISC dhcpd, with leases of a few seconds: renewing, rebinding, refusal, expiry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missing } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { DhcpLab } from './dhcp-lab.ts';

const skip = missing('dhcpd');

function config(range: string, seconds = 6): string {
  return `authoritative; default-lease-time ${seconds}; max-lease-time ${seconds}; min-lease-time ${seconds};
    ping-check false;
    subnet 192.168.1.0 netmask 255.255.255.0 { range ${range}; option routers 192.168.1.1; }`;
}

test('a lease is renewed again and again, by its own server alone', { skip }, async () => {
  using lab = new DhcpLab();
  const server = lab.dhcpd('192.168.1.1/24', config('192.168.1.5 192.168.1.9'));
  const daemon = await lab.daemon('-timeout', '1s');
  const pod = lab.pod('c1');
  const result = await lab.add({ pod });
  pod.configure(result);
  await until('three renewals', () => count(server.output, 'DHCPACK on') >= 4 || undefined);
  // Over the link's broadcast address there was no request after the first.
  assert.equal(count(server.output, 'DHCPREQUEST'), count(server.output, 'DHCPACK on'));
  await lab.run('CHECK', { pod, prevResult: result });
  assert.deepEqual(daemon.output.trim().split('\n').length, 1);
  await lab.run('DEL', { pod });
  await server.said('DHCPRELEASE of 192.168.1.5');
});

test('two interfaces of a container have two leases (containernetworking/plugins#217)', {
  skip,
}, async () => {
  using lab = new DhcpLab();
  const server = lab.dhcpd('192.168.1.1/24', config('192.168.1.5 192.168.1.9'));
  await lab.daemon('-timeout', '1s');
  const pod = lab.pod('c1', ['eth1', 'eth2']);
  const one = await lab.add({ pod, ifName: 'eth1' });
  const two = await lab.add({ pod, ifName: 'eth2' });
  pod.configure(two, 'eth2');
  const [first = '', second = ''] = [one, two].map(({ ips }) => ips?.[0]?.address.split('/')[0]);
  assert.notEqual(first, second);
  await lab.run('DEL', { pod, ifName: 'eth1' });
  await server.said(`DHCPRELEASE of ${first}`);
  await lab.run('DEL', { pod, ifName: 'eth1' });
  const renewals = () => count(server.output, `DHCPACK on ${second}`) - 1;
  await until(`renewals of ${second}`, () => renewals() >= 2 || undefined);
  assert.equal(count(server.output, `DHCPRELEASE of ${second}`), 0);
  await lab.run('CHECK', { pod, ifName: 'eth2', prevResult: two });
});

test('when its server is lost, a lease is kept by another one', { skip }, async () => {
  using lab = new DhcpLab();
  const first = lab.dhcpd('192.168.1.1/24', config('192.168.1.5 192.168.1.5', 8));
  const daemon = await lab.daemon('-timeout', '1s');
  const pod = lab.pod('c1');
  const result = await lab.add({ pod });
  pod.configure(result);
  await first.end('SIGKILL');
  const second = lab.dnsmasq('192.168.1.2/24', ['--dhcp-range=192.168.1.5,192.168.1.9,2m']);
  await daemon.said('192.168.1.1 does not renew the lease of 192.168.1.5: asks all servers');
  await second.said('DHCPACK(eth0) 192.168.1.5');
  await lab.run('CHECK', { pod, prevResult: result });
  assert.ok(pod.isUp());
  await lab.run('DEL', { pod });
  await second.said('DHCPRELEASE(eth0) 192.168.1.5');
});

test('a lease that nobody extends ends on time: the interface goes down, and CHECK says why', {
  skip,
}, async () => {
  using lab = new DhcpLab();
  const server = lab.dhcpd('192.168.1.1/24', config('192.168.1.5 192.168.1.9', 4));
  const daemon = await lab.daemon('-timeout', '1s');
  const pod = lab.pod('c1');
  const result = await lab.add({ pod });
  pod.configure(result);
  await server.end('SIGKILL');
  await daemon.said('the lease of 192.168.1.5 is expired: sets the interface down');
  await until('the interface to be down', () => !pod.isUp() || undefined);
  await assert.rejects(lab.run('CHECK', { pod, prevResult: result }), {
    cniCode: 150,
    msg: 'the lease of 192.168.1.5 has expired, and was not given again',
  });
  await lab.run('DEL', { pod });
});

test('a server that refuses is asked anew; another address ends the lease', { skip }, async () => {
  using lab = new DhcpLab();
  const first = lab.dhcpd('192.168.1.1/24', config('192.168.1.5 192.168.1.5', 8));
  const daemon = await lab.daemon('-timeout', '1s');
  const pod = lab.pod('c1');
  const result = await lab.add({ pod });
  pod.configure(result);
  await first.end();
  // The same server comes back with other addresses.
  const second = lab.dnsmasq('192.168.1.1/24', ['--dhcp-range=192.168.1.50,192.168.1.59,2m']);
  await second.said('DHCPNAK');
  await daemon.said(/the servers want 192\.168\.1\.\d+\/24 in the place of 192\.168\.1\.5\/24/);
  await second.said('DHCPRELEASE');
  await until('the interface to be down', () => !pod.isUp() || undefined);
  await assert.rejects(lab.run('CHECK', { pod, prevResult: result }), {
    cniCode: 150,
    msg: 'no server lets eth0 keep 192.168.1.5',
  });
});

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
