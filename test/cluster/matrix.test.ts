/** Pods of all nodes reach each other, on whatever network there is between nodes: with agents, blocks and routes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LabSpec, type RunningLab, specOf } from '@heddle/lab';
import { missing } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { assertParted, heddleProgram, startLab, untilComplete } from './cluster-lab.ts';

/** What a VXLAN header takes from a packet, by the family of the network between nodes. */
const OVERHEAD = { 4: 50, 6: 70 } as const;

async function passesWhole(lab: RunningLab, size: number, families: readonly (4 | 6)[]): Promise<void> {
  for (const family of families) {
    const way = { from: 'pod1-1', to: 'pod2-1', family, fragments: false };
    assert.equal(
      (await lab.ask('ping', { ...way, size, timeout: 20_000 })).answered,
      true,
      `${size} over IPv${family}`,
    );
    assert.deepEqual(await lab.ask('ping', { ...way, size: size + 1 }), {
      answered: false,
      error: 'EMSGSIZE',
    });
    const sent = await lab.ask('transfer', { from: 'pod1-1', to: 'pod2-1', family, bytes: 4_000_000 });
    assert.equal(sent.complete, true, JSON.stringify(sent));
  }
}

const CASES: readonly (readonly [what: string, spec: LabSpec])[] = [
  ['direct, dual', specOf({ nodes: 2, network: { encapsulation: 'never' } })],
  ['direct, IPv4', specOf({ nodes: 2, families: 'ipv4', network: { encapsulation: 'never' } })],
  ['direct, IPv6', specOf({ nodes: 2, families: 'ipv6', network: { encapsulation: 'never' } })],
  ['VXLAN, dual', specOf({ nodes: 2, network: { encapsulation: 'always' } })],
  ['VXLAN, IPv4', specOf({ nodes: 2, families: 'ipv4', network: { encapsulation: 'always' } })],
  ['VXLAN, IPv6', specOf({ nodes: 2, families: 'ipv6', network: { encapsulation: 'always' } })],
  [
    'VXLAN over IPv6, pods of both families',
    specOf({ nodes: 2, families: 'ipv6', podFamilies: 'dual', network: { encapsulation: 'always' } }),
  ],
  [
    'cross-subnet, dual, etcd',
    specOf({ nodes: 3, topology: 'two-segments', store: 'etcd', network: { encapsulation: 'cross-subnet' } }),
  ],
];

for (const [what, spec] of CASES) {
  test(`everybody reaches everybody: ${what}`, async () => {
    await using lab = await startLab(spec);
    const { reaches } = await untilComplete(lab);
    const nodes = Object.keys(spec.nodes).length;
    const families = (spec.podFamilies ?? spec.families ?? 'dual') === 'dual' ? 2 : 1;
    // From each node and each pod to each pod but itself.
    assert.equal(reaches.length, (nodes * nodes + nodes * (nodes - 1)) * families);
  });
}

for (const mtu of [1400, 1500, 9000]) {
  test(`with ${mtu} bytes between nodes pods have what is left of it, wrapped or not`, async () => {
    await using lab = await startLab(
      specOf({ nodes: 3, topology: 'two-segments', mtu, network: { encapsulation: 'cross-subnet' } }),
    );
    await untilComplete(lab);
    await passesWhole(lab, mtu - OVERHEAD[4], [4, 6]);
  });
}

test('a node that is cut off is missed and comes back', async () => {
  await using lab = await startLab(specOf({ nodes: 3, network: { encapsulation: 'always' } }));
  await untilComplete(lab);
  await lab.ask('cut', { node: 'node3' });
  await assertParted(lab, [['node1', 'node2'], ['node3']]);
  await lab.ask('heal', { node: 'node3' });
  await untilComplete(lab);
});

test('a node whose firewall forwards nothing forwards for pods all the same, and again after rules were lost', {
  skip: missing('iptables'),
}, async () => {
  await using lab = await startLab(specOf({ nodes: 2, network: { encapsulation: 'always' } }));
  await untilComplete(lab);
  const onSecond = async (command: string) => {
    const { status, stderr } = await lab.ask('run', { on: 'node2', command: command.split(' ') });
    assert.equal(status, 0, stderr);
  };
  for (const program of ['iptables', 'ip6tables']) await onSecond(`${program} -P FORWARD DROP`);
  await untilComplete(lab);
  for (const program of ['iptables', 'ip6tables']) await onSecond(`${program} -F`);
  await untilComplete(lab);
});

test('a new agent takes over, and no ping of a flood is lost, no stream broken', async () => {
  await using lab = await startLab(specOf({ nodes: 2, network: { encapsulation: 'always' } }));
  await untilComplete(lab);
  const seen = async () =>
    Number(
      JSON.parse(
        (
          await lab.ask('run', {
            on: 'node1',
            command: [...heddleProgram(), 'agent', 'status', '-o', 'json'],
          })
        ).stdout,
      ).pid,
    );
  const first = await seen();
  const floods = ([4, 6] as const).map((family) =>
    lab.ask('flood', { from: 'pod1-1', to: 'pod2-1', family, milliseconds: 20_000, interval: 20 }),
  );
  const stream = lab.ask('transfer', { from: 'pod1-1', to: 'pod2-1', bytes: 400_000_000, timeout: 60_000 });
  const { status, stderr } = await lab.ask('run', { on: 'node1', command: [...heddleProgram(), 'up'] });
  assert.equal(status, 0, stderr);
  assert.notEqual(await seen(), first);
  for (const { sent, answered, refusals } of await Promise.all(floods)) {
    assert.deepEqual({ answered, refusals }, { answered: sent, refusals: [] });
    assert.ok(sent > 100);
  }
  assert.equal((await stream).complete, true);
  await lab.ask('addPod', { node: 'node1', pod: 'late' });
  await untilComplete(lab);
});

test('pods keep their traffic while etcd is away, and new ones come when it is back', async () => {
  await using lab = await startLab(specOf({ nodes: 2, store: 'etcd', network: { encapsulation: 'always' } }));
  await untilComplete(lab);
  const flood = lab.ask('flood', {
    from: 'pod1-1',
    to: 'pod2-1',
    family: 4,
    milliseconds: 15_000,
    interval: 20,
  });
  await lab.ask('killEtcd', { member: 'etcd1' });
  await assert.rejects(lab.ask('addPod', { node: 'node1', pod: 'early' }), /store|etcd|try again/);
  const { sent, answered } = await flood;
  assert.equal(answered, sent);
  await lab.ask('resumeEtcd', { member: 'etcd1' });
  await until(
    'a pod to be attached',
    async () => await lab.ask('addPod', { node: 'node1', pod: 'late' }),
    60,
  );
  await untilComplete(lab);
});

test('one of three members of etcd fails, and nobody notices', async () => {
  await using lab = await startLab(
    specOf({ nodes: 2, store: 'etcd-3', network: { encapsulation: 'always' } }),
  );
  await untilComplete(lab);
  const flood = lab.ask('flood', {
    from: 'pod1-1',
    to: 'pod2-1',
    family: 6,
    milliseconds: 15_000,
    interval: 20,
  });
  await lab.ask('killEtcd', { member: 'etcd1' });
  // Whoever was connected to it is told to try again, or goes to another one.
  await until(
    'a pod to be attached',
    async () => await lab.ask('addPod', { node: 'node1', pod: 'late' }),
    60,
  );
  const { sent, answered } = await flood;
  assert.equal(answered, sent);
  await untilComplete(lab);
});

test('who is in the cluster, and how a node is, can be asked on any node', async () => {
  await using lab = await startLab(specOf({ nodes: 2, topology: 'two-segments' }));
  await untilComplete(lab);
  const ask = async (...args: readonly string[]) => {
    const { status, stdout, stderr } = await lab.ask('run', {
      on: 'node2',
      command: [...heddleProgram(), ...args],
    });
    assert.equal(status, 0, stderr || stdout);
    return stdout;
  };
  const nodes = JSON.parse(await ask('node', 'ls', '-o', 'json')) as {
    name: string;
    state: string;
    blocks: object[];
  }[];
  assert.deepEqual(
    nodes.map(({ name, state }) => [name, state]),
    [
      ['node1', 'alive'],
      ['node2', 'alive'],
    ],
  );
  assert.ok(nodes.every(({ blocks }) => blocks.length > 0));
  const text = await ask('node', 'status');
  assert.match(text, /^pods +can be attached$/m);
  assert.match(text, /^problems +none$/m);
  assert.match(text, /^node1 +198\.18\.1\.11\/24 .*alive$/m);
});

test('a node that goes down leaves nothing in the kernel, and the others know at once', async () => {
  await using lab = await startLab(specOf({ nodes: 2, pods: 0, network: { encapsulation: 'always' } }));
  const on = (node: string, ...command: readonly string[]) => lab.ask('run', { on: node, command });
  await lab.ask('addPod', { node: 'node2', pod: 'web' });
  const refused = await on('node2', ...heddleProgram(), 'down');
  assert.equal(refused.status, 3);
  assert.match(refused.stderr, /1 pod is attached to heddle/);
  await lab.ask('removePod', { pod: 'web' });
  const { status, stderr } = await on('node2', ...heddleProgram(), 'down');
  assert.equal(status, 0, stderr);
  const links = (await on('node2', 'ip', '-br', 'link')).stdout.trim().split('\n');
  assert.deepEqual(
    links.map((line) => line.split(/[ @]/)[0]),
    ['lo', 'eth0'],
  );
  assert.doesNotMatch((await on('node2', 'ip', 'route')).stdout, /10\.244/);
  const { stdout } = await on('node1', ...heddleProgram(), 'node', 'ls', '-o', 'json');
  assert.deepEqual(
    (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name),
    ['node1'],
  );
});
