/** `heddle ipam` on a node: what it shows, what it finds, and what it gives back. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { openStore } from '@heddle/agent';
import { remove } from '@heddle/store';
import { runInNetns } from '@heddle/sys';
import { TestNode } from './test-node.ts';

const PROGRAM = ['--conditions=source', resolve('packages/cli/src/main.ts'), 'ipam'];
const leaked = {
  network: 'net1',
  containerID: 'gone',
  ifName: 'eth0',
  sandbox: { path: '/run/netns/gone', key: '4:1' },
};

/** Runs the command on the node; all of its output that is JSON is read. */
function ipam(node: TestNode, ...args: readonly string[]) {
  const words = [...PROGRAM, ...args, '--node', node.configFile];
  const { status, stdout, stderr } = runInNetns(node.lab.host.handle, () =>
    spawnSync(process.execPath, words, { encoding: 'utf8' }),
  );
  return { status, stdout, stderr, json: args.includes('json') ? JSON.parse(stdout) : undefined };
}

test('show says who has what, in words and as JSON', async () => {
  await using node = await TestNode.joined();
  const container = node.lab.container('pod');
  const args = 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web';
  const { ips } = await node.lab.add({ config: { type: 'heddle' }, container, args });
  const { status, json } = ipam(node, 'show', '-o', 'json');
  assert.equal(status, 0);
  assert.deepEqual(
    json.pools.map(({ pool, held }: { pool: string; held: number }) => [pool, held]),
    [
      ['four', 1],
      ['six', 1],
    ],
  );
  assert.deepEqual(json.nodes, [{ node: 'n1', blocks: 2, held: 2, free: 126 }]);
  assert.deepEqual(json.handles, [
    {
      ...{ handle: 'net1/pod/eth0', node: 'n1', pod: 'shop/web' },
      addresses: ips?.map(({ address }) => address.split('/')[0]),
    },
  ]);
  assert.match(ipam(node, 'show', '-o', 'wide').stdout, /^net1\/pod\/eth0 +n1 +shop\/web +10\.244\./m);
  assert.deepEqual(ipam(node, 'check').stdout, 'all fits together\n');
});

test('an address without an attachment is suspected, and given back after two looks; one in use never', async () => {
  await using node = await TestNode.joined();
  const container = node.lab.container('pod');
  await node.lab.add({ config: { type: 'heddle' }, container });
  await node.node.addresses.take(leaked);
  const { status, json } = ipam(node, 'check', '-o', 'json');
  assert.deepEqual(
    [status, json.problems, json.unused.map(({ handle }: { handle: string }) => handle)],
    [4, [], ['net1/gone/eth0']],
  );
  const refused = ipam(node, 'release', 'net1/pod/eth0');
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /net1\/pod\/eth0: its attachment is there/);
  const released = ipam(node, 'release', '--leaked', '--seconds', '0', '-o', 'json');
  assert.deepEqual(
    released.json.released.map(({ handle }: { handle: string }) => handle),
    ['net1/gone/eth0'],
  );
  assert.deepEqual(ipam(node, 'check').status, 0);
  assert.equal(
    (await node.node.addresses.held({ network: 'net1', containerID: 'pod', ifName: 'eth0' }))?.addresses
      .length,
    2,
  );
});

test('repair makes fit together what somebody else tore apart, and frees nothing', async () => {
  await using node = await TestNode.joined();
  await node.lab.add({ config: { type: 'heddle' }, container: node.lab.container('pod') });
  await using store = await openStore({ store: node.store });
  await remove(store, '/heddle/ipam/handles/n1/net1%2Fpod%2Feth0');
  const broken = ipam(node, 'check');
  assert.equal(broken.status, 5);
  assert.match(broken.stdout, /is held by net1\/pod\/eth0 of n1, which has no handle/);
  assert.equal(ipam(node, 'repair').status, 0);
  assert.equal(ipam(node, 'check').status, 0);
  assert.equal(
    (await node.node.addresses.held({ network: 'net1', containerID: 'pod', ifName: 'eth0' }))?.addresses
      .length,
    2,
  );
});
