/** The plugin below main plugins whose links small kernels lack. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ipvlan } from '../ipvlan/index.ts';
import { DhcpNode, NO_SERVER } from './testing.ts';

test('links that share a hardware address have leases of their own', { skip: NO_SERVER }, async () => {
  await using node = new DhcpNode([ipvlan]);
  const { lab } = node;
  const { ipam } = node.link;
  await node.link.startDaemon();
  const config = { type: 'ipvlan', master: 'hdup', ipam };
  const [one, two] = [lab.container(), lab.container()];
  const first = await lab.add({ config, container: one });
  const second = await lab.add({ config, container: two });
  assert.notEqual(first.ips?.[0]?.address, second.ips?.[0]?.address);
  assert.ok(one.pings('192.0.2.1') && two.pings('192.0.2.1'));
  await lab.check({ config, container: one, prevResult: first });
  await lab.del({ config, container: one });
  await node.link.said(`DHCPRELEASE(eth0) ${first.ips?.[0]?.address.split('/')[0]}`);
  await lab.del({ config, container: two });
});
