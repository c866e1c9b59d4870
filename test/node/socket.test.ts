/** The node's socket: who may ask, what is answered, and what becomes of releases while nobody is there. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { clusterClient, ownPlace, WaitingReleases } from '@heddle/ipam/cluster';
import { Addr } from '@heddle/netaddr';
import { TestNode } from './test-node.ts';

const attachment = { network: 'net1', containerID: 'c1', ifName: 'eth0' };

/** What comes back for some text. */
function converse(path: string, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let received = '';
  const socket = connect(path, () => socket.write(text));
  socket.setEncoding('utf8').on('data', (portion: string) => (received += portion));
  socket.on('error', reject).on('close', () => resolve(received));
  return promise;
}

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await setTimeout(10);
}

test('over the socket, addresses are taken, asked for, listed and given back; for root only', async () => {
  await using node = await TestNode.joined();
  const { socket, waiting } = node;
  const client = clusterClient({ socket, waiting });
  assert.equal(statSync(socket).mode & 0o777, 0o600);
  assert.deepEqual(await client.status(), { ready: true, node: 'n1', warnings: [] });
  const given = await client.take({ ...attachment, podNamespace: 'shop', podName: 'web' });
  assert.deepEqual(
    given.addresses.map(({ address, pool }) => [address.family, address.isSingle, pool]),
    [
      [4, true, 'four'],
      [6, true, 'six'],
    ],
  );
  assert.deepEqual([given.node, given.mtu], ['n1', 1500]);
  assert.deepEqual((await client.take(attachment)).addresses.map(String), given.addresses.map(String));
  const held = await client.held(attachment);
  assert.deepEqual(
    held?.addresses.map(({ address }) => `${address}`),
    given.addresses.map(({ address }) => `${address}`),
  );
  assert.deepEqual(await client.list('net1'), [held]);
  assert.deepEqual(await client.list('net'), []);
  await client.give(attachment, (held?.at ?? 0) - 1);
  assert.ok(await client.held(attachment), 'another holding was meant');
  await client.give(attachment);
  assert.equal(await client.held(attachment), undefined);
  const wanted = { ...attachment, addresses: [Addr.parse('10.244.7.7')], families: [4] as const };
  assert.equal(`${(await client.take(wanted)).addresses[0]?.address}`, '10.244.7.7/32');
  await assert.rejects(client.take({ ...wanted, containerID: 'c2' }), {
    code: 'IPAM_ADDRESS_UNAVAILABLE',
    message: /10\.244\.7\.7: it is held by net1\/c1\/eth0 on n1/,
  });
  await assert.rejects(client.take({ ...attachment, containerID: 'c3', pools: ['none'] }), {
    code: 'IPAM_NO_POOL',
  });
});

test('nonsense, what has no end, and callers of other namespaces are refused in words', async () => {
  await using node = await TestNode.joined();
  const { socket } = node;
  assert.match(
    await converse(socket, 'what?\n'),
    /"code":"CLUSTER_PROTOCOL","message":"the question is no line of JSON/,
  );
  assert.match(await converse(socket, '{"ask":"take"}\n'), /does not understand the question/);
  assert.match(await converse(socket, 'x'.repeat(70_000)), /"code":"CLUSTER_PROTOCOL"/);
  const from = { ...ownPlace(), network: '0:0' };
  const question = JSON.stringify({ ask: 'status', from });
  assert.match(
    await converse(socket, `${question}\n`),
    /"code":"CLUSTER_ELSEWHERE".*another network namespace/,
  );
  assert.match(await converse(socket, `${question.replace('0:0', ownPlace().network)}\n`), /"ready":true/);
});

test('while no agent is there nothing is taken, and what is given back waits for the next, which does it first', async () => {
  await using first = await TestNode.joined();
  const { directory, socket, waiting } = first;
  const client = clusterClient({ socket, waiting });
  await client.take(attachment);
  await first.node[Symbol.asyncDispose]();
  await assert.rejects(client.take({ ...attachment, containerID: 'c2' }), {
    code: 'CLUSTER_NODE_ABSENT',
    hint: /heddle up/,
  });
  assert.partialDeepStrictEqual(await client.status(), { ready: false });
  await client.give(attachment);
  assert.deepEqual(new WaitingReleases(waiting).list(), [attachment]);
  await using second = await TestNode.joined({ directory });
  assert.equal(await second.node.addresses.held(attachment), undefined);
  assert.deepEqual(new WaitingReleases(waiting).list(), []);
});

test('an attachment that is added anew keeps its addresses, whatever waited of the one before', async () => {
  await using node = await TestNode.joined();
  const releases = new WaitingReleases(node.waiting);
  for (let round = 0; round < 20; round++) {
    await node.node.addresses.take(attachment);
    releases.add(attachment);
    if (round % 2 === 0) await setTimeout(round / 4);
    const { addresses } = await node.node.addresses.take(attachment);
    await until(() => releases.list().length === 0);
    // A release that was under way by then would come in its turn.
    const held = await node.node.addresses.held(attachment);
    assert.deepEqual(
      held?.addresses.map(({ address }) => `${address}`),
      addresses.map(({ address }) => `${address}`),
    );
  }
});

test('a store that is away is told, keeps no DEL waiting, and is tried until it answers', async () => {
  await using helper = await TestNode.joined();
  const blocked = join(helper.directory, 'blocked');
  writeFileSync(blocked, '');
  const paths = { socket: join(helper.directory, 's'), waiting: join(helper.directory, 'w') };
  const config = { name: 'n2', store: `sqlite://${blocked}/store.db`, ...paths };
  await using node = await TestNode.started({ directory: helper.directory, config });
  const client = clusterClient(paths);
  await until(async () => {
    const status = await client.status();
    return !status.ready && status.reason.includes('blocked/store.db');
  });
  await assert.rejects(client.take(attachment), { code: 'CLUSTER_NODE_NOT_READY', message: /ENOTDIR/ });
  await client.give(attachment);
  assert.equal(new WaitingReleases(paths.waiting).list().length, 1);
  assert.partialDeepStrictEqual(await node.node.status(), {
    ready: false,
    membership: 'joining',
    waitingReleases: 1,
  });
  rmSync(blocked);
  mkdirSync(blocked);
  await node.node.joined();
  assert.equal(new WaitingReleases(paths.waiting).list().length, 0);
});
