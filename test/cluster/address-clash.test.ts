/** Two have one address: nodes between each other, or a pod and somebody else. It is said who, and all is well when it is over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RunningLab, specOf } from '@heddle/lab';
import { until } from '../support/until.ts';
import { heddleProgram, startLab, untilComplete } from './cluster-lab.ts';
import { must } from './flannel-nodes.ts';

/** Seconds, for busy machines. */
const PATIENCE = 120;

/** Waits until a node says just this of what is not as it should be. */
async function untilProblems(lab: RunningLab, node: string, expected: readonly string[]): Promise<void> {
  await until(
    `${node} to say what is wrong`,
    async () => {
      const command = [...heddleProgram(), 'node', 'status', '-o', 'json'];
      const { status, stdout } = await lab.ask('run', { on: node, command });
      const { routing } = JSON.parse(stdout) as {
        routing: { problems: { subject: string; reason: string }[] };
      };
      assert.deepEqual(
        routing.problems.map(({ subject, reason }) => `${subject}: ${reason}`),
        expected,
      );
      assert.equal(status, expected.length === 0 ? 0 : 1);
      return true;
    },
    PATIENCE,
  );
}

/** Gives a node another address between nodes, as a mistaken operator does. */
const readdress = (lab: RunningLab, node: string, from: string, to: string) =>
  must(
    lab,
    node,
    'sh',
    '-ec',
    `ip address del ${from}/24 dev eth0
     ip address add ${to}/24 dev eth0
     ip route replace default via 198.18.1.1`,
  );

test('two nodes with one address are named by all, those that have it too, until one has another', async () => {
  await using lab = await startLab(specOf({ nodes: 3 }));
  await untilComplete(lab);
  await readdress(lab, 'node3', '198.18.1.13', '198.18.1.12');
  const shares = (name: string, other: string) =>
    `node ${name}: it has the address 198.18.1.12 between nodes, and so has ${other}`;
  await untilProblems(lab, 'node1', [shares('node2', 'node node3'), shares('node3', 'node node2')]);
  await untilProblems(lab, 'node2', [shares('node3', 'this node')]);
  await untilProblems(lab, 'node3', [shares('node2', 'this node')]);
  // For people, and for the runtime that asks whether pods can be attached, which they can.
  const { stdout } = await lab.ask('run', { on: 'node1', command: [...heddleProgram(), 'node', 'status'] });
  assert.match(stdout, /problems +node node2: it has the address 198\.18\.1\.12/);
  await lab.ask('addPod', { node: 'node2', pod: 'meanwhile' });

  await readdress(lab, 'node3', '198.18.1.12', '198.18.1.13');
  for (const node of ['node1', 'node2', 'node3']) {
    await untilProblems(lab, node, []);
    // Who had heard of the wrong machine sends to it for as long as that passes packets on.
    await must(lab, node, 'ip', 'neigh', 'flush', 'dev', 'eth0');
  }
  await untilComplete(lab);
});

test('a node that has the address of its own pod is told so by the doctor, with what mends it', async () => {
  await using lab = await startLab(specOf({ nodes: 2 }));
  await untilComplete(lab);
  const { nodes } = await lab.ask('status', {});
  const addresses = nodes[0]?.pods[0]?.addresses ?? [];
  assert.equal(addresses.length, 2);
  for (const address of addresses) {
    const bits = address.includes(':') ? 128 : 32;
    await must(lab, 'node1', 'ip', 'address', 'add', `${address}/${bits}`, 'dev', 'lo');
  }
  const found = await doctor(lab, 'node1');
  assert.deepEqual(
    found.map(({ what }) => what).sort(),
    addresses.map((address) => `the node itself has ${address}, on lo`).sort(),
  );
  for (const command of found.flatMap(({ commands }) => commands)) {
    await must(lab, 'node1', 'sh', '-ec', command);
  }
  assert.deepEqual(await doctor(lab, 'node1'), []);
  await untilComplete(lab);
});

interface FindingJson {
  readonly id: string;
  readonly what: string;
  readonly commands: readonly string[];
}

/** What it finds of the ways back to pods. */
async function doctor(lab: RunningLab, node: string): Promise<readonly FindingJson[]> {
  const { stdout } = await lab.ask('run', {
    on: node,
    command: [...heddleProgram(), 'doctor', '-o', 'json'],
  });
  const { findings } = JSON.parse(stdout) as { findings: FindingJson[] };
  return findings.filter(({ id }) => id === 'attachment/no-host-route');
}
