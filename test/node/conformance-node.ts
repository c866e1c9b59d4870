/**
 * A node of a cluster for the conformance kit's `--daemon`: in the namespaces that it is started in, over a store below
 * /var/lib, with one pool of each family and a small one.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { ClusterNode, openStore, parseNodeConfig } from '@heddle/agent';
import { putPool, putSettings } from '@heddle/ipam/blocks';
import { Prefix } from '@heddle/netaddr';
import { openSession } from '@heddle/netlink';

const STORE = 'sqlite:///var/lib/heddle/store.db';
const POOLS = [
  { name: 'four', cidr: '10.215.0.0/16', blockSize: 24 },
  { name: 'six', cidr: 'fd00:215::/112', blockSize: 120 },
  { name: 'small', cidr: '10.216.0.0/30', blockSize: 30, nodeSelector: "pool == 'small'" },
];

await using session = openSession({ mode: 'threaded' });
// The kit may start it anew on a node that it has been on.
if ((await session.links.find('kitunder')) === undefined) {
  await session.links.add({ kind: 'veth', name: 'kitunder', up: true, peer: { name: 'kitbeyond' } });
  await session.links.set('kitbeyond', { up: true });
  await session.addresses.add({ link: 'kitunder', prefix: Prefix.parse('192.0.2.10/24') });
  await session.addresses.add({ link: 'kitunder', prefix: Prefix.parse('2001:db8::10/64'), noDad: true });
}
{
  await using store = await openStore({ store: STORE });
  for (const { cidr, ...pool } of POOLS) await putPool(store, { ...pool, cidr: Prefix.parse(cidr) });
  await putSettings(store, { coolDownSeconds: 0 });
}
await using node = new ClusterNode({
  config: parseNodeConfig({ name: 'kit', store: STORE, labels: { pool: 'small' } }, 'the node'),
  ...{ instance: 'kit', version: 'test', session },
  onEvent: ({ what, why }) => why !== undefined && console.error(`${what}: ${why}`),
});
await node.start();
await node.joined();
// What a node has from its first pod on: blocks, and for each the route that keeps packets for nobody from going round.
for (const pools of [['four', 'six'], ['small']]) {
  const attachment = { network: 'warm-up', containerID: 'warm-up', ifName: 'eth0' };
  await node.addresses.take({ ...attachment, pools });
  await node.addresses.give(attachment);
}
const blackholes = async () => (await session.routes.list()).filter(({ type }) => type === 'blackhole');
while ((await blackholes()).length < POOLS.length) await setTimeout(10);
writeFileSync('/run/heddle/kit-ready', '');
await new Promise<void>((ended) => process.once('SIGTERM', ended));
