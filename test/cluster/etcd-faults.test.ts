/**
 * What may befall etcd, and the agents on it, under pods that talk: nothing of what they send is lost, no address is
 * two pods' or freed under one, none is leaked, and new pods come as soon as they can.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RunningLab, specOf } from '@heddle/lab';
import { missing } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { heddleProgram, startLab, untilComplete } from './cluster-lab.ts';
import { LabEtcd } from './lab-etcd.ts';
import { SteadyTraffic } from './steady-traffic.ts';

/** Seconds, for busy machines. */
const PATIENCE = 120;

class FaultyCluster {
  readonly lab: RunningLab;
  readonly etcd: LabEtcd;
  #pods = 0;

  constructor(lab: RunningLab) {
    this.lab = lab;
    this.etcd = new LabEtcd(lab);
  }

  /** A new pod comes, within some time, and goes again. */
  async comesAndGoes(node: string): Promise<void> {
    const pod = `late${++this.#pods}`;
    const add = () => this.lab.ask('addPod', { node, pod });
    await until(`a pod to be attached to ${node}`, add, PATIENCE);
    await this.lab.ask('removePod', { pod });
  }

  /** A pod is refused, with words that say why, and leaves nothing. */
  async refuses(node: string, why: RegExp): Promise<void> {
    await assert.rejects(this.lab.ask('addPod', { node, pod: `refused${++this.#pods}` }), why);
  }

  async shell(on: string, script: string): Promise<string> {
    const { status, stdout, stderr } = await this.lab.ask('run', { on, command: ['sh', '-ec', script] });
    assert.equal(status, 0, stderr || stdout);
    return stdout;
  }

  async heddle(on: string, ...args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.lab.ask('run', {
      on,
      command: [...heddleProgram(), ...args],
    });
    assert.equal(status, 0, stderr || stdout);
    return stdout;
  }

  /** All are members, each address that a pod has is its own in the store, and there are no others. */
  async isWell(): Promise<void> {
    for (const node of ['node1', 'node2']) await this.comesAndGoes(node);
    await until(
      'the store to have what the pods have',
      async () => {
        const { nodes } = await this.lab.ask('status', {});
        const used = nodes.flatMap(({ pods }) => pods.flatMap(({ addresses }) => addresses)).sort();
        const shown = JSON.parse(await this.heddle('node1', 'ipam', 'show', '-o', 'json')) as {
          handles: { handle: string; addresses: string[] }[];
        };
        const held = shown.handles
          .filter(({ handle }) => !handle.startsWith('tunnel.'))
          .flatMap(({ addresses }) => addresses)
          .sort();
        assert.deepEqual(held, used);
        assert.equal(new Set(used).size, used.length);
        return true;
      },
      PATIENCE,
    );
    await this.heddle('node1', 'ipam', 'check');
    const states = JSON.parse(await this.heddle('node1', 'node', 'ls', '-o', 'json')) as { state: string }[];
    assert.deepEqual(
      states.map(({ state }) => state),
      ['alive', 'alive'],
    );
  }
}

type Fault = readonly [what: string, befall: (cluster: FaultyCluster) => Promise<void>];

const FAULTS: readonly Fault[] = [
  [
    'the leader was killed',
    async (cluster) => {
      const { leader: member } = await cluster.etcd.roles();
      await cluster.lab.ask('killEtcd', { member });
      await cluster.comesAndGoes('node1');
      await cluster.lab.ask('resumeEtcd', { member });
    },
  ],
  [
    'the leader was cut off from all',
    async (cluster) => {
      const { leader: node } = await cluster.etcd.roles();
      await cluster.lab.ask('cut', { node });
      await cluster.comesAndGoes('node2');
      await cluster.lab.ask('heal', { node });
    },
  ],
  [
    'the majority was gone',
    async (cluster) => {
      const { leader, others } = await cluster.etcd.roles();
      for (const member of [leader, others[0]]) await cluster.lab.ask('killEtcd', { member });
      await cluster.refuses('node1', /store|etcd/);
      for (const member of [leader, others[0]]) await cluster.lab.ask('resumeEtcd', { member });
    },
  ],
  [
    'a node was cut off from etcd, history was compacted, and all leases had ended',
    async (cluster) => {
      await cluster.shell(
        'node2',
        "nft 'table inet cut { chain out { type filter hook output priority 0; tcp dport 2379 drop; }; }'",
      );
      await cluster.comesAndGoes('node1');
      await cluster.lab.ask('addPod', { node: 'node1', pod: 'unheard' });
      await cluster.etcd.compactAndExpire();
      await until(
        'node2 to be missed',
        async () => /node2 .*(missing|gone)/.test(await cluster.heddle('node1', 'node', 'ls')) || undefined,
        PATIENCE,
      );
      await cluster.refuses('node2', /store|etcd/);
      await cluster.shell('node2', 'nft delete table inet cut');
      await untilComplete(cluster.lab);
      await cluster.lab.ask('removePod', { pod: 'unheard' });
    },
  ],
  [
    'the database was full',
    async (cluster) => {
      await cluster.lab.ask('addPod', { node: 'node2', pod: 'leaving' });
      await cluster.etcd.setFull(true);
      await cluster.refuses('node1', /space|full/);
      await cluster.lab.ask('removePod', { pod: 'leaving' });
      await cluster.etcd.setFull(false);
    },
  ],
  [
    'the disks of two members were full',
    async (cluster) => {
      const { leader, others } = await cluster.etcd.roles();
      const full = [others[0], leader];
      for (const member of full) await cluster.etcd.moveToSmallDisk(member);
      for (const member of full) await cluster.etcd.fillDisk(member);
      // Whether one comes while etcd lives on what it had allocated, or none: nothing may be left of it.
      for (const pod of ['full1', 'full2']) {
        const isThere = await cluster.lab.ask('addPod', { node: 'node1', pod }).then(
          () => true,
          () => false,
        );
        if (isThere) await cluster.lab.ask('removePod', { pod });
      }
      for (const member of full) await cluster.etcd.clearDisk(member);
    },
  ],
  [
    'all members were restarted, one after the other',
    async (cluster) => {
      const { leader, others } = await cluster.etcd.roles();
      for (const member of [...others, leader]) await cluster.etcd.restart(member);
    },
  ],
  [
    'an agent was killed and started, and the other one replaced',
    async (cluster) => {
      await cluster.shell('node1', 'kill -9 $(cat /run/heddle/agent.pid)');
      await cluster.heddle('node1', 'up');
      await cluster.heddle('node2', 'up');
    },
  ],
];

test('whatever befalls etcd, pods keep their traffic, and addresses have one owner', {
  skip: missing('etcd'),
}, async (t) => {
  await using lab = await startLab(
    specOf({ nodes: 2, store: 'etcd-3', network: { encapsulation: 'always' } }),
  );
  await untilComplete(lab);
  const cluster = new FaultyCluster(lab);
  const { nodes } = await lab.ask('status', {});
  const addresses = nodes[1]?.pods[0]?.addresses ?? [];
  assert.equal(addresses.length, 2);
  await using traffic = await SteadyTraffic.begin(lab, { from: 'pod1-1', to: 'pod2-1', addresses });
  for (const [what, befall] of FAULTS) {
    traffic.during = what;
    await befall(cluster);
    await cluster.isWell();
    t.diagnostic(`well after: ${what}`);
  }
  await untilComplete(lab);
  const { lost, pings, lines } = await traffic.end();
  assert.deepEqual(lost, []);
  t.diagnostic(`${pings} pings and ${lines.join(' and ')} lines came back`);
  for (const count of [pings, ...lines]) assert.ok(count > 0);
});
