import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { askStatus } from '@heddle/agent';
import { startAgent, THROUGH_AGENT } from '../support/agent-lane.ts';
import { Node, type Pod } from '../support/node.ts';
import { installClient } from '../support/plugin-directory.ts';
import { FULL_CHAIN } from './full-chain.ts';

/** 500 where there is time for them. */
const ATTACHMENTS = process.env['HEDDLE_TEST_LONG'] === undefined ? 100 : 500;
const CALLERS = 8;
/** Bytes. */
const MOST = 100 * 1024 * 1024;

test(`an agent with ${ATTACHMENTS} attachments is small, and does nothing when nobody calls`, async () => {
  using node = new Node();
  using agent = THROUGH_AGENT ? undefined : startAgent(node.handle, node.directory);
  const runtime = node.runtime([installClient(join(node.directory, 'bin'))]);
  const network = node.network(FULL_CHAIN);
  const pods: Pod[] = [];
  const socket = join(node.directory, 'agent.sock');
  try {
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (pods.length < ATTACHMENTS) {
          const portMappings = [{ hostPort: 20_000 + pods.length, containerPort: 80, protocol: 'tcp' }];
          const pod = node.pod(`pod${pods.length}`, { capabilityArgs: { portMappings } });
          pods.push(pod);
          await runtime.add(network, pod.attachment);
        }
      }),
    );
    const { memory, pid, calls } = await askStatus(socket);
    assert.equal(calls['ADD']?.done, ATTACHMENTS * 5);
    assert.ok(memory <= MOST, `${(memory / 1024 / 1024).toFixed(0)} MiB`);
    assert.equal(await ticksAtRest(pid), 0, 'it never came to rest');
    console.log(`${(memory / 1024 / 1024).toFixed(0)} MiB${agent ? '' : ' (lane)'}`);
  } finally {
    for (const pod of pods) pod[Symbol.dispose]();
  }
});

/**
 * What a process spends in five seconds once it has come to rest, in hundredths of a second: V8 tidies up for a while
 * after work is done, the longer the busier the machine is.
 */
async function ticksAtRest(pid: number): Promise<number> {
  let spent = Number.POSITIVE_INFINITY;
  for (let window = 0; window < 12 && spent > 0; window++) {
    const before = cpuTicks(pid);
    await sleep(5000);
    spent = cpuTicks(pid) - before;
  }
  return spent;
}

/** User and system time of a process, in hundredths of a second — proc(5). */
function cpuTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [, , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(user) + Number(system);
}
