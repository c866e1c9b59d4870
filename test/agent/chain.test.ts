import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { askStatus } from '@heddle/agent';
import { CniError } from '@heddle/cni';
import type { RuntimeOptions } from '@heddle/cni/runtime';
import { startAgent, THROUGH_AGENT } from '../support/agent-lane.ts';
import { assertUnchanged, leftovers } from '../support/leftovers.ts';
import { Node } from '../support/node.ts';
import { installClient } from '../support/plugin-directory.ts';
import { FULL_CHAIN } from './full-chain.ts';

const WAYS = ['processes', 'agent', 'in-process'] as const;
const portMappings = [{ hostPort: 20_000, containerPort: 80, protocol: 'tcp' }];

/** A node with an agent, a network, and what is there when a pod has come and gone. */
class Lab implements Disposable {
  readonly node = new Node();
  readonly bin = installClient(join(this.node.directory, 'bin'));
  readonly network = this.node.network(FULL_CHAIN);
  readonly #agent: Disposable = THROUGH_AGENT
    ? new DisposableStack()
    : startAgent(this.node.handle, this.node.directory);

  runtime(way: string, options: Partial<RuntimeOptions> = {}) {
    return this.node.runtime([this.bin], { exec: this.node.exec(way), ...options });
  }

  pod(id: string) {
    return this.node.pod(id, { capabilityArgs: { portMappings } });
  }

  state() {
    return leftovers(this.node, [join(this.node.directory, 'ipam'), join(this.node.directory, 'cache')]);
  }

  stop(): void {
    this.#agent[Symbol.dispose]();
    rmSync(join(this.node.directory, 'agent.sock'), { force: true });
  }

  [Symbol.dispose](): void {
    this.#agent[Symbol.dispose]();
    this.node[Symbol.dispose]();
  }
}

test('every way gives the same result, the same errors, and leaves the same state', async () => {
  using lab = new Lab();
  const told = [];
  for (const way of WAYS) {
    const warnings: string[] = [];
    const stderr: string[] = [];
    const runtime = lab.runtime(way, {
      onWarning: (text) => warnings.push(text),
      onStderr: (text, { type }) => stderr.push(`${type}: ${text}`),
    });
    using pod = lab.pod('pod');
    const result = await runtime.add(lab.network, pod.attachment);
    const attached = lab.state();
    await runtime.check(lab.network, pod.attachment);
    await runtime.status(lab.network);
    const again = await runtime.add(lab.network, pod.attachment).catch(String);
    pod.run('ip', 'link', 'set', 'eth0', 'down');
    pod.run('ip', 'address', 'flush', 'dev', 'eth0');
    const broken = await runtime.check(lab.network, pod.attachment).catch(String);
    await runtime.del(lab.network, pod.attachment);
    await runtime.gc(lab.network, []);
    const missing = await runtime
      .add(lab.network, { ...pod.attachment, netns: '/run/netns/none' })
      .catch((error: CniError) => ({ text: error.message, code: error.cniCode }));
    await runtime.del(lab.network, pod.attachment);
    told.push(
      JSON.stringify(
        { result, attached, again, broken, missing, warnings, stderr, after: lab.state() },
        null,
        1,
      )
        // Addresses go round, hardware addresses are random, and each pod is another namespace.
        .replaceAll(pod.path, 'NETNS')
        .replace(/10\.66\.0\.\d+|fd00:66::[\da-f]+/g, 'IP')
        .replace(/([\da-f]{2}:){5}[\da-f]{2}/g, 'MAC')
        .replace(/link-netnsid \d+|@if\d+|^\s*"\d+: /gm, 'N')
        .replace(/handle \d+|counter packets \d+ bytes \d+/g, 'H'),
    );
  }
  assert.ok(/"broken": "\w+/.test(told[0] ?? '') && /"again": "\w+/.test(told[0] ?? ''), told[0]);
  for (const [index, way] of WAYS.entries()) {
    assert.deepEqual(told[index]?.split('\n'), told[0]?.split('\n'), way);
  }
});

test('a chain is one request: no process is started', async () => {
  using lab = new Lab();
  // Whoever starts a plugin gets nothing but this.
  rmSync(join(lab.bin, 'heddle-shim'));
  writeFileSync(join(lab.bin, 'heddle-shim'), '#!/bin/sh\nexit 9\n', { mode: 0o755 });
  const runtime = lab.runtime('agent');
  using pod = lab.pod('pod');
  await runtime.add(lab.network, pod.attachment);
  await runtime.check(lab.network, pod.attachment);
  await runtime.del(lab.network, pod.attachment);
  const { calls } = await askStatus(join(lab.node.directory, 'agent.sock'));
  for (const command of ['ADD', 'CHECK', 'DEL']) assert.equal(calls[command]?.done, 5, command);
  await assert.rejects(lab.runtime('processes').add(lab.network, pod.attachment), /exit status 9/);
});

test('without an agent, and for plugins of others, it is as ever', async () => {
  using lab = new Lab();
  using pod = lab.pod('pod');
  const runtime = lab.runtime('agent');
  await runtime.add(lab.network, pod.attachment);
  rmSync(join(lab.bin, 'tuning'));
  writeFileSync(join(lab.bin, 'tuning'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  await runtime.del(lab.network, pod.attachment);
  const before = lab.state();
  installTuningAgain(lab.bin);
  lab.stop();
  await runtime.add(lab.network, pod.attachment);
  await runtime.del(lab.network, pod.attachment);
  assertUnchanged(before, lab.state());
});

test('when the agent goes in the middle, an ADD is an error, and a DEL is done anew', async () => {
  using lab = new Lab();
  using pod = lab.pod('pod');
  await lab.runtime('processes').add(lab.network, pod.attachment);
  lab.stop();
  const requests: number[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      requests.push(bytes.length);
      socket.resume();
      setTimeout(() => socket.destroy(), 50);
    });
  });
  await new Promise<void>((resolve) => server.listen(join(lab.node.directory, 'agent.sock'), resolve));
  try {
    const runtime = lab.runtime('agent');
    await runtime.del(lab.network, pod.attachment);
    const error = await runtime.add(lab.network, pod.attachment).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof CniError);
    assert.equal(error.cniCode, 11);
    assert.match(
      error.message,
      /^plugin type="bridge" failed \(add\): bridge: the agent did not end this call/,
    );
    assert.ok(requests.length > 1);
  } finally {
    server.close();
  }
});

test('the runtime’s own tests pass when each operation is one job', () => {
  const files = globSync('packages/cni/src/runtime/*.test.ts').filter((path) => !path.includes('.kernel.'));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--conditions=source', '--test', '--test-isolation=none', '--test-reporter=tap', ...files],
    { env: { ...env, HEDDLE_TEST_RUNTIME: 'chain' }, encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  assert.equal(
    status,
    0,
    stdout
      .split('\n')
      .filter((line) => /^\s*not ok|^\s*(error|message):/.test(line))
      .join('\n'),
  );
  assert.match(stdout, /^# pass \d{3}$/m);
});

function installTuningAgain(bin: string): void {
  rmSync(join(bin, 'tuning'));
  spawnSync('ln', ['-s', 'heddle-shim', join(bin, 'tuning')]);
}
