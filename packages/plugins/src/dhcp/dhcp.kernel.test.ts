/** The plugin below main plugins, with a daemon in this process and dnsmasq on the link. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bridge } from '../bridge/index.ts';
import { macvlan } from '../macvlan/index.ts';
import { DhcpNode, NO_SERVER } from './testing.ts';

const BRIDGE = { type: 'bridge', bridge: 'hdbr' };

test('a container on a bridge has the address, the routes and the name servers of a lease', {
  skip: NO_SERVER,
}, async () => {
  await using node = new DhcpNode([bridge]);
  const { lab } = node;
  const config = { ...BRIDGE, ipam: node.link.ipam };
  await node.link.startDaemon();
  const container = lab.container();
  const result = await lab.add({ config, container });
  const [{ address } = { address: '' }] = result.ips ?? [];
  assert.match(address, /^192\.0\.2\.(1\d|20)\/24$/);
  assert.deepEqual(result.dns, { nameservers: ['192.0.2.53'] });
  assert.match(container.run('ip', '-o', 'address', 'show', 'eth0'), new RegExp(` ${address} `));
  const routes = container.run('ip', 'route').replace(/ +$/gm, '').trim().split('\n').sort();
  assert.deepEqual(routes, [
    '10.0.0.0/8 via 192.0.2.2 dev eth0',
    `192.0.2.0/24 dev eth0 proto kernel scope link src ${address.split('/')[0]}`,
    '198.51.100.0/24 dev eth0 scope link',
    'default via 192.0.2.1 dev eth0',
  ]);
  assert.ok(container.pings('192.0.2.1'));
  await lab.check({ config, container, prevResult: result });
  await lab.del({ config, container, prevResult: result });
  await node.link.said(`DHCPRELEASE(eth0) ${address.split('/')[0]}`);
  await lab.del({ config, container });
});

test('a container with a link of its master’s', { skip: NO_SERVER }, async () => {
  await using node = new DhcpNode([macvlan]);
  await node.link.startDaemon();
  const config = { type: 'macvlan', master: 'hdup', ipam: node.link.ipam };
  const [one, two] = [node.lab.container(), node.lab.container()];
  const first = await node.lab.add({ config, container: one });
  const second = await node.lab.add({ config, container: two });
  assert.notEqual(first.ips?.[0]?.address, second.ips?.[0]?.address);
  assert.ok(one.pings('192.0.2.1') && two.pings('192.0.2.1'));
  await node.lab.check({ config, container: one, prevResult: first });
  await node.lab.del({ config, container: one });
  await node.link.said(`DHCPRELEASE(eth0) ${first.ips?.[0]?.address.split('/')[0]}`);
  await node.lab.del({ config, container: two });
});

test('an ADD that fails after the lease gives it back', { skip: NO_SERVER }, async () => {
  await using node = new DhcpNode([bridge]);
  const { lab } = node;
  const config = { ...BRIDGE, ipam: node.link.ipam };
  await node.link.startDaemon();
  // The gateway cannot be made: the bridge has another address already.
  lab.host.run('ip', 'address', 'add', '198.51.100.1/24', 'dev', 'hdbr');
  await assert.rejects(lab.add({ config: { ...config, isGateway: true }, container: lab.container() }));
  assert.match(node.link.log, /leased (192\.0\.2\.\d+)/);
  await node.link.said(/DHCPRELEASE\(eth0\) 192\.0\.2\.\d+/);
  assert.match(node.link.log, /gave 192\.0\.2\.\d+ back/);
});

test('without a daemon, DEL and GC give leases back by themselves', { skip: NO_SERVER }, async () => {
  await using node = new DhcpNode([bridge]);
  const { lab } = node;
  const config = { ...BRIDGE, ipam: node.link.ipam };
  await node.link.startDaemon();
  const containers = ['c1', 'c2', 'c3'].map((id) => lab.container(id));
  const addresses: string[] = [];
  for (const container of containers) {
    const { ips } = await lab.add({ config, container });
    addresses.push(ips?.[0]?.address.split('/')[0] ?? '');
  }
  await node.link.stopDaemon();
  const [one, , three] = containers;
  await lab.del({ config, ...(one && { container: one }) });
  await node.link.said(`DHCPRELEASE(eth0) ${addresses[0]}`);
  await lab.gc(config, [{ containerID: 'c3', ifname: 'eth0' }]);
  await node.link.said(`DHCPRELEASE(eth0) ${addresses[1]}`);
  assert.ok(!node.link.log.includes(`DHCPRELEASE(eth0) ${addresses[2]}`));
  await node.link.startDaemon();
  await node.link.said(/c3\/net1\/eth0: goes on with/);
  await lab.del({ config, ...(three && { container: three }) });
});

test('CHECK sees an interface that another lease is used on', { skip: NO_SERVER }, async () => {
  await using node = new DhcpNode([bridge]);
  const { lab } = node;
  const config = { ...BRIDGE, ipam: node.link.ipam };
  await node.link.startDaemon();
  const container = lab.container();
  const result = await lab.add({ config, container });
  await lab.check({ config, container, prevResult: result });
  const other = { ...result, ips: [{ ...result.ips?.[0], address: '192.0.2.99/24' }] };
  await assert.rejects(lab.check({ config, container, prevResult: other }), { cniCode: 150 });
  await node.link.stopDaemon();
  await assert.rejects(lab.check({ config, container, prevResult: result }), { cniCode: 11 });
});
