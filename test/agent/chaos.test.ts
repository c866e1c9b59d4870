import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CniError } from '@heddle/cni';
import { startAgent } from '../support/agent-lane.ts';
import { assertUnchanged, leftovers } from '../support/leftovers.ts';
import { Node, type Pod } from '../support/node.ts';
import { installClient } from '../support/plugin-directory.ts';

const CALLERS = 8;
const ROUNDS = 25;

const CHAIN = JSON.stringify({
  cniVersion: '1.1.0',
  name: 'chaos',
  plugins: [
    {
      type: 'bridge',
      bridge: 'hdchaos0',
      isGateway: true,
      ipMasq: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.66.0.0/24' }], [{ subnet: 'fd00:66::/64' }]] },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
    { type: 'firewall', backend: 'nftables' },
  ],
});

test(`an agent that is killed again and again during ${CALLERS * ROUNDS} ADDs and DELs leaves errors, but nothing else`, async () => {
  using node = new Node();
  const start = () => startAgent(node.handle, node.directory);
  const socket = join(node.directory, 'agent.sock');
  rmSync(socket, { force: true });
  let agent = start();
  const runtime = node.runtime([installClient(join(node.directory, 'bin'))]);
  const network = node.network(CHAIN);
  using first = node.pod('first');
  await runtime.add(network, first.attachment);
  await runtime.del(network, first.attachment);
  const state = () => leftovers(node, [join(node.directory, 'ipam'), join(node.directory, 'cache')]);
  const before = state();

  const pods = new Set<Pod>();
  let failures = 0;
  let slowest = 0;
  const call = async (operate: () => Promise<unknown>) => {
    const began = performance.now();
    try {
      await operate();
    } catch (error) {
      assert.ok(error instanceof CniError, String(error));
      failures++;
    }
    slowest = Math.max(slowest, performance.now() - began);
  };
  let done = false;
  const killing = (async () => {
    let kills = 0;
    for (; !done; kills++) {
      await sleep(100 + Math.random() * 300);
      agent[Symbol.dispose]();
      // What was killed has left its socket, at which nobody answers.
      await sleep(Math.random() * 100);
      rmSync(socket, { force: true });
      agent = start();
    }
    return kills;
  })();
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let round = 0; round < ROUNDS; round++) {
        const portMappings = [{ hostPort: 20_000 + caller, containerPort: 80, protocol: 'tcp' }];
        const pod = node.pod(`pod${caller}-${round}`, { capabilityArgs: { portMappings } });
        pods.add(pod);
        await call(() => runtime.add(network, pod.attachment));
        await call(() => runtime.del(network, pod.attachment));
      }
    }),
  );
  done = true;
  const kills = await killing;
  for (const pod of pods) await runtime.del(network, pod.attachment);
  await runtime.gc(network, []);
  assertUnchanged(before, state());
  for (const pod of pods) pod[Symbol.dispose]();
  agent[Symbol.dispose]();
  assert.ok(kills > 3, `${kills} kills`);
  assert.ok(slowest < 60_000, `a call took ${slowest} ms`);
  console.log(`${kills} kills, ${failures} failed calls, the slowest took ${slowest.toFixed(0)} ms`);
});
