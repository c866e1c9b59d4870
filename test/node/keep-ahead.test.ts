/** The mode `cluster-pool` on a node: blocks are there before they are needed, and it is told when they are not. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { openStore } from '@heddle/agent';
import { type IpamSettings, putSettings } from '@heddle/ipam/blocks';
import { runInNetns } from '@heddle/sys';
import { until } from '../support/until.ts';
import { TestNode } from './test-node.ts';

const attachment = (id: number) => ({ network: 'net1', containerID: `c${id}`, ifName: 'eth0' });

async function set(node: TestNode, settings: Partial<IpamSettings>): Promise<void> {
  await using store = await openStore({ store: node.store });
  await putSettings(store, settings);
}

/** What `heddle ipam show` says. */
function shown(node: TestNode, ...args: readonly string[]): string {
  const words = ['--conditions=source', resolve('packages/cli/src/main.ts'), 'ipam', 'show', ...args];
  const { stdout, stderr } = runInNetns(node.lab.host.handle, () =>
    spawnSync(process.execPath, [...words, '--node', node.configFile], { encoding: 'utf8' }),
  );
  assert.equal(stderr, '');
  return stdout;
}

const blocksOf = async ({ node }: TestNode) =>
  (await node.status()).blocks.map(({ pool, held }) => `${pool} ${held}`).sort();

async function untilBlocks(node: TestNode, expected: readonly string[]): Promise<void> {
  let last: readonly string[] = [];
  const areThere = async () => {
    last = await blocksOf(node);
    return last.length === expected.length || undefined;
  };
  await until('the blocks', areThere);
  assert.deepEqual(last, expected);
}

test('a node is kept ahead of its need, from when it has joined, by as much as it takes', async () => {
  await using node = await TestNode.joined({
    pools: { four: '10.244.0.0/23' },
    settings: { mode: 'cluster-pool', ahead: 40 },
  });
  const container = node.lab.container('pod');
  await node.lab.add({ config: { type: 'heddle' }, container });
  await untilBlocks(node, ['four 0', 'four 1']);
  for (let id = 0; id < 40; id++) await node.node.addresses.take(attachment(id));
  await untilBlocks(node, ['four 0', 'four 41']);
  assert.deepEqual((await node.node.status()).ahead, [{ family: 4, free: 87, isBehind: false }]);
  for (let id = 40; id < 48; id++) await node.node.addresses.take(attachment(id));
  await untilBlocks(node, ['four 0', 'four 49']);
  for (let id = 48; id < 80; id++) await node.node.addresses.take(attachment(id));
  await untilBlocks(node, ['four 0', 'four 17', 'four 64']);
  const { mode, ahead, nodes } = JSON.parse(shown(node, '-o', 'json'));
  assert.deepEqual(
    [mode, ahead, nodes],
    ['cluster-pool', 40, [{ node: 'n1', blocks: 3, held: 81, free: 111 }]],
  );
  assert.match(shown(node), /^every node has 40 addresses of each family besides those in use, or more$/m);
});

test('where no pool has another block, the node says so, and gives what there is', async () => {
  await using node = await TestNode.joined({
    pools: { four: '10.244.0.0/26' },
    settings: { mode: 'cluster-pool', ahead: 60 },
  });
  await until('the block', async () => (await node.node.status()).ahead?.[0]?.free === 64 || undefined);
  for (let id = 0; id < 64; id++) await node.node.addresses.take(attachment(id));
  await until('it to be told', async () => {
    const readiness = await node.node.addresses.status();
    return (readiness.ready && readiness.warnings.some((each) => SHORT.test(each))) || undefined;
  });
  assert.deepEqual((await node.node.status()).ahead, [{ family: 4, free: 0, isBehind: true }]);
  await assert.rejects(node.node.addresses.take(attachment(64)), /no address is free for node n1 in four/);
});

const SHORT = /addresses of IPv4 are free, and no pool has another block/;

test('nodes that claim as they need are kept ahead as soon as the cluster is told so, and claim nothing more afterwards', async () => {
  await using node = await TestNode.joined({ pools: { four: '10.244.0.0/23' } });
  await node.node.addresses.take(attachment(0));
  assert.deepEqual([await blocksOf(node), (await node.node.status()).ahead], [['four 1'], undefined]);
  await set(node, { mode: 'cluster-pool', ahead: 100 });
  await node.node.addresses.take(attachment(1));
  await untilBlocks(node, ['four 0', 'four 0', 'four 0', 'four 2']);
  await set(node, { mode: 'blocks' });
  for (let id = 2; id < 70; id++) await node.node.addresses.take(attachment(id));
  assert.equal((await blocksOf(node)).length, 4);
  assert.equal((await node.node.status()).ahead, undefined);
});
