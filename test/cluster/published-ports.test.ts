/** A pod's published port in a cluster: whoever reaches the pod's node reaches it, and other nodes do not publish it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RunningLab, specOf } from '@heddle/lab';
import { until } from '../support/until.ts';
import { heddleProgram, startLab, untilComplete } from './cluster-lab.ts';

test('a published port is reached at the address of its pod’s node, from pods and nodes everywhere', async () => {
  await using lab = await startLab(specOf({ nodes: 2, network: { encapsulation: 'always' } }));
  await untilComplete(lab);
  const heddle = (...args: readonly string[]) => [...heddleProgram(), ...args];
  const attach = ['env', `CAP_ARGS=${JSON.stringify({ portMappings })}`, ...heddle('add', 'heddle', 'web')];
  for (const command of [['ip', 'netns', 'add', 'web'], attach]) {
    const { status, stderr } = await lab.ask('run', { on: 'node2', command });
    assert.equal(status, 0, stderr);
  }
  const serve = ['ip', 'netns', 'exec', 'web', process.execPath, '-e', SERVER];
  const server = await lab.spawn('node2', serve, { env: process.env, stdio: 'inherit' });
  try {
    const [here, there] = [await addressesOf(lab, 'node2'), await addressesOf(lab, 'node1')];
    await until('the server', async () => (await asks(lab, 'node2', here[0])) === 'web' || undefined, 60);
    for (const address of here) {
      for (const from of ['pod1-1', 'pod2-1', 'node1', 'node2']) {
        assert.equal(await asks(lab, from, address), 'web', `${from} at ${address}`);
      }
    }
    for (const address of there) {
      for (const from of ['pod1-1', 'pod2-1', 'node1', 'node2']) {
        assert.equal(await asks(lab, from, address), 'ECONNREFUSED', `${from} at ${address}`);
      }
    }
  } finally {
    server.kill('SIGKILL');
  }
  const { status, stderr } = await lab.ask('run', { on: 'node2', command: heddle('del', 'heddle', 'web') });
  assert.equal(status, 0, stderr);
  for (const address of await addressesOf(lab, 'node2')) {
    assert.equal(await asks(lab, 'pod1-1', address), 'ECONNREFUSED', address);
  }
});

const portMappings = [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }];

/** The node's addresses in the network between nodes, of both families. */
async function addressesOf(lab: RunningLab, node: string): Promise<readonly [string, string]> {
  const command = ['ip', '-j', 'address', 'show', 'dev', 'eth0', 'scope', 'global'];
  const { stdout } = await lab.ask('run', { on: node, command });
  const [{ addr_info: infos }] = JSON.parse(stdout) as [{ addr_info: { family: string; local: string }[] }];
  const local = (name: string) => infos.find(({ family }) => family === name)?.local ?? '';
  return [local('inet'), local('inet6')];
}

/** What answers at the published port, or why nothing does. */
async function asks(lab: RunningLab, from: string, address: string): Promise<string> {
  const command = [process.execPath, '-e', CLIENT, address];
  return (await lab.ask('run', { on: from, command })).stdout;
}

const SERVER = `require('node:net').createServer((socket) => socket.on('error', () => {}).end('web')).listen(80, '::');`;

const CLIENT = `
const done = (text) => process.stdout.write(text, () => process.exit());
setTimeout(() => done('nothing'), 60000);
require('node:net').connect({ host: process.argv[1], port: 8080 })
  .on('data', (data) => done(String(data))).on('error', ({ code }) => done(code));`;
