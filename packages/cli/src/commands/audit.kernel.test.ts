/** What an audit takes from the kernel: links, addresses, routes, forwarding. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KernelLab } from '../testing/kernel-lab.ts';

interface Told {
  readonly findings: readonly { readonly id: string; readonly what: string }[];
}

async function findings(lab: KernelLab): Promise<readonly string[]> {
  const { findings: all } = (await lab.json(['audit', 'net.d', '--node'])) as Told;
  return all.filter(({ id }) => !id.startsWith('chain/')).map(({ id, what }) => `${id}: ${what}`);
}

function withUplink(): KernelLab {
  const lab = new KernelLab();
  lab.host.run('ip', 'link', 'add', 'up0', 'mtu', '1400', 'up', 'type', 'veth', 'peer', 'name', 'up1');
  lab.host.run('ip', 'link', 'set', 'up1', 'up');
  lab.host.run('ip', 'address', 'add', '198.51.100.7/24', 'dev', 'up0');
  lab.host.run('ip', 'route', 'add', 'default', 'via', '198.51.100.1');
  lab.host.run('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1');
  return lab;
}

describe('an audit of this node', () => {
  test('finds nothing wrong with a healthy one', async () => {
    using lab = withUplink();
    assert.deepEqual(await findings(lab), []);
  });

  test('finds nothing wrong while the network is in use', async () => {
    using lab = withUplink();
    lab.host.run('ip', 'link', 'add', 'hdcli0', 'up', 'type', 'bridge');
    lab.host.run('ip', 'address', 'add', '10.45.0.1/24', 'dev', 'hdcli0');
    lab.host.run('ip', 'address', 'add', 'fd45::1/64', 'dev', 'hdcli0', 'nodad');
    assert.deepEqual(await findings(lab), []);
  });

  test('finds a route of the host into the subnet', async () => {
    using lab = withUplink();
    lab.host.run('ip', 'route', 'add', '10.45.0.128/25', 'via', '198.51.100.9');
    assert.match(
      (await findings(lab)).join('\n'),
      /overlap\/host-routes: the host routes 10\.45\.0\.128\/25 by 198\.51\.100\.9 on up0/,
    );
  });

  test('finds an address of the host in a range, a master that is not there, and MTUs that do not fit', async () => {
    using lab = withUplink();
    lab.write('net.d/20-lan.conf', {
      ...{ cniVersion: '1.0.0', name: 'lan', type: 'macvlan', master: 'up0', mtu: 1500 },
      ipam: { type: 'host-local', subnet: '198.51.100.0/24' },
    });
    lab.write('net.d/30-gone.conf', {
      ...{ cniVersion: '1.0.0', name: 'gone', type: 'ipvlan', master: 'eth9', ipam: { type: 'dhcp' } },
    });
    lab.write('net.d/40-big.conf', {
      ...{ cniVersion: '1.0.0', name: 'big', type: 'bridge', bridge: 'br9', isGateway: true, mtu: 1500 },
      ipam: { type: 'host-local', subnet: '10.46.0.0/24' },
    });
    const told = (await findings(lab)).join('\n');
    assert.match(told, /overlap\/host-addresses: 198\.51\.100\.7 of up0 is in the range/);
    assert.match(told, /mtu\/above-master: the MTU is 1500, and up0 has 1400/);
    assert.match(told, /host\/no-master: there is no link eth9/);
    assert.match(told, /mtu\/above-path: the MTU is 1500, but up0 carries 1400/);
  });

  test('finds IPv6 switched off, and forwarding', async () => {
    using lab = withUplink();
    lab.host.run('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=0', 'net.ipv6.conf.all.disable_ipv6=1');
    const told = (await findings(lab)).join('\n');
    assert.match(told, /host\/ipv6-disabled: podnet has IPv6 addresses/);
    assert.match(
      told,
      /host\/forwarding-off: podnet has IPv6 addresses, and net\.ipv6\.conf\.all\.forwarding is 0/,
    );
  });
});
