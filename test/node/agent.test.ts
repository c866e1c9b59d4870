/** `heddle agent --node`: calls through the agent's client, and through the standalone program when the agent is away. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { askStatus } from '@heddle/agent';
import { WaitingReleases } from '@heddle/ipam/cluster';
import type { Container } from '@heddle/plugins/testing';
import { runInNetns } from '@heddle/sys';
import { installClient } from '../support/plugin-directory.ts';
import { TestNode } from './test-node.ts';

/** An agent that is the node, in the node's namespace; the test's own part of the node has ended. */
async function startAgent(node: TestNode): Promise<{ agent: ChildProcess; socket: string }> {
  const socket = join(node.directory, 'agent.sock');
  const env = {
    ...process.env,
    HEDDLE_AGENT_SOCKET: socket,
    HEDDLE_AGENT_QUEUE: join(node.directory, 'queue'),
  };
  const words = [
    '--conditions=source',
    resolve('packages/cli/src/main.ts'),
    'agent',
    '--node',
    node.configFile,
  ];
  const agent = runInNetns(node.lab.host.handle, () =>
    spawn(process.execPath, words, { env, stdio: 'ignore' }),
  );
  for (;;) {
    try {
      if ((await askStatus(socket)).node?.ready) return { agent, socket };
    } catch {
      // Not there yet.
    }
    assert.equal(agent.exitCode, null, 'the agent ended');
    await new Promise((done) => setTimeout(done, 50));
  }
}

async function stopAgent(agent: ChildProcess): Promise<void> {
  const ended = new Promise((done) => agent.on('exit', done));
  agent.kill('SIGTERM');
  await ended;
}

test('pods are attached by an agent; while it is away ADD says so, and DEL is made up for', async () => {
  await using node = await TestNode.started();
  await node.node[Symbol.asyncDispose]();
  const bin = installClient(join(node.directory, 'bin'));
  const socket = join(node.directory, 'agent.sock');
  const call = (command: string, container: Container) => {
    const env = {
      ...{ CNI_COMMAND: command, CNI_CONTAINERID: container.id, CNI_NETNS: container.path },
      ...{ CNI_IFNAME: 'eth0', CNI_PATH: bin, PATH: process.env['PATH'] },
      ...{ HEDDLE_AGENT_SOCKET: socket, HEDDLE_AGENT_QUEUE: join(node.directory, 'queue') },
    };
    const config = {
      cniVersion: '1.1.0',
      name: 'net1',
      type: 'heddle',
      nodeSocket: node.socket,
      nodeWaiting: node.waiting,
    };
    const { status, stdout } = runInNetns(node.lab.host.handle, () =>
      spawnSync(join(bin, 'heddle'), { env, input: JSON.stringify(config), encoding: 'utf8' }),
    );
    return { status, json: stdout === '' ? undefined : JSON.parse(stdout) };
  };
  const [one, two] = [node.lab.container(), node.lab.container()];
  const first = await startAgent(node);
  try {
    assert.equal(call('ADD', one).status, 0);
    const { ips } = call('ADD', two).json;
    for (const { address } of ips) assert.ok(one.pings(address.split('/')[0]), address);
    const { calls, node: status } = await askStatus(first.socket);
    assert.equal(calls['ADD']?.done, 2, 'the agent has served both');
    assert.equal(
      status?.blocks.reduce((sum, { held }) => sum + held, 0),
      4,
    );
  } finally {
    await stopAgent(first.agent);
  }
  for (const { address } of [{ address: '192.0.2.10' }]) assert.ok(one.pings(address), 'its traffic goes on');
  const three = node.lab.container();
  const refused = call('ADD', three);
  assert.equal(refused.json.code, 11);
  assert.match(refused.json.msg, /^no node of a cluster answers on .*node\.sock: ENOENT/);
  assert.match(refused.json.details, /heddle up/);
  assert.equal(call('DEL', two).status, 0);
  assert.equal(await two.session.links.find('eth0'), undefined);
  // What the failed ADD may have taken, and what the DEL gave back.
  assert.deepEqual(
    new WaitingReleases(node.waiting)
      .list()
      .map(({ containerID }) => containerID)
      .sort(),
    [two.id, three.id].sort(),
  );
  const second = await startAgent(node);
  try {
    const { node: status } = await askStatus(second.socket);
    assert.equal(status?.waitingReleases, 0);
    assert.equal(call('ADD', two).status, 0);
    for (const container of [one, two]) assert.equal(call('DEL', container).status, 0);
  } finally {
    await stopAgent(second.agent);
  }
});
