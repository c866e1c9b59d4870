/**
 * The clock of a node is set, by a day and by an hour, in both directions, under pods that talk: no packet is lost, nobody is
 * taken for dead or loses a block, and no address is given before it has rested.
 */
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type RunningLab, specOf } from '@heddle/lab';
import { heddleProgram, startLab, untilComplete } from './cluster-lab.ts';
import { must } from './flannel-nodes.ts';
import { SteadyTraffic } from './steady-traffic.ts';

const STORE = 'sqlite:///run/lab/store.db';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** As long as a node may be silent before it is missed, and a second. */
const LEASE = 31_000;

/** How far the clock of node2 is ahead of the machine's, one after the other, and how long it stays so at least. */
const SETTINGS = [
  { what: 'forward by a day', ahead: DAY, wait: LEASE },
  { what: 'back by an hour', ahead: DAY - HOUR, wait: 0 },
  { what: 'back by a day', ahead: -HOUR, wait: 0 },
] as const;

class Cluster {
  readonly #lab: RunningLab;
  #pods = 0;

  constructor(lab: RunningLab) {
    this.#lab = lab;
  }

  /** From now on the programs of the nodes have clocks that can be set. */
  async letClocksBeSet(): Promise<void> {
    for (const node of ['node1', 'node2']) {
      await must(this.#lab, node, 'env', CLOCK, ...heddleProgram(), 'up');
    }
  }

  async set(node: string, ahead: number): Promise<void> {
    // At once: nobody reads half of it.
    const script = `echo ${ahead} > /run/clock-set && mv /run/clock-set /run/clock-ahead`;
    await must(this.#lab, node, 'sh', '-ec', script);
  }

  /** Eight addresses, and how long each rests. */
  async tinyPool(seconds: number): Promise<void> {
    const program = resolve('test/cluster/tiny-pool-program.ts');
    await must(this.#lab, 'node1', process.execPath, '--conditions=source', program, STORE, `${seconds}`);
  }

  /** @returns its name, and its address of IPv4 */
  async add(node: string): Promise<{ readonly pod: string; readonly address: string }> {
    const pod = `p${++this.#pods}`;
    const { addresses } = await this.#lab.ask('addPod', { node, pod });
    return { pod, address: addresses.find((each) => !each.includes(':')) ?? assert.fail(pod) };
  }

  async remove(pod: string): Promise<void> {
    await this.#lab.ask('removePod', { pod });
  }

  /** No pod comes, for all that is free rests. */
  async refuses(node: string): Promise<void> {
    await assert.rejects(this.add(node), /no address is free for node/);
  }

  /** Which node has which block. */
  async blocks(): Promise<readonly string[]> {
    const nodes = JSON.parse(await this.#heddle('node1', 'node', 'ls', '-o', 'json')) as NodeJson[];
    return nodes.flatMap(({ name, blocks }) => blocks.map(({ cidr }) => `${name} ${cidr}`)).sort();
  }

  /** All that the nodes say of each other and of themselves is as it should be. */
  async isWell(): Promise<void> {
    for (const node of ['node1', 'node2']) {
      const nodes = JSON.parse(await this.#heddle(node, 'node', 'ls', '-o', 'json')) as NodeJson[];
      assert.deepEqual(
        nodes.map(({ name, state, goneSince }) => [name, state, goneSince]),
        [
          ['node1', 'alive', null],
          ['node2', 'alive', null],
        ],
      );
      const status = JSON.parse(await this.#heddle(node, 'node', 'status', '-o', 'json')) as StatusJson;
      const { ready, membership, routing } = status;
      assert.deepEqual(
        [ready, membership, routing.problems, routing.peers.map(({ missing }) => missing)],
        [true, 'joined', [], [false]],
      );
      for (const command of [
        ['agent', 'status'],
        ['node', 'status'],
        ['node', 'ls'],
      ]) {
        assert.doesNotMatch(
          await this.#heddle(node, ...command),
          /NaN|Infinity|Invalid|\s-\d|missing|gone|away/,
        );
      }
    }
    await this.#heddle('node1', 'ipam', 'check');
  }

  #heddle(node: string, ...args: readonly string[]): Promise<string> {
    return must(this.#lab, node, 'env', CLOCK, ...heddleProgram(), ...args);
  }
}

interface NodeJson {
  readonly name: string;
  readonly state: string;
  readonly goneSince: string | null;
  readonly blocks: readonly { readonly cidr: string }[];
}

interface StatusJson {
  readonly ready: boolean;
  readonly membership: string;
  readonly routing: {
    readonly problems: readonly unknown[];
    readonly peers: readonly { readonly missing: boolean }[];
  };
}

const CLOCK = `NODE_OPTIONS=--import ${resolve('test/cluster/settable-clock.ts')}`;

test('whatever a clock is set to, pods keep their traffic, nodes are known to live, and addresses rest', async (t) => {
  await using lab = await startLab(specOf({ nodes: 2 }));
  await untilComplete(lab);
  const cluster = new Cluster(lab);
  await cluster.letClocksBeSet();
  await cluster.tinyPool(1_200);
  const { nodes } = await lab.ask('status', {});
  const addresses = nodes[1]?.pods[0]?.addresses ?? [];
  assert.equal(addresses.length, 2);
  await using traffic = await SteadyTraffic.begin(lab, { from: 'pod1-1', to: 'pod2-1', addresses });

  const here = [await cluster.add('node1'), await cluster.add('node1')];
  const there: Awaited<ReturnType<Cluster['add']>>[] = [];
  for (let count = here.length; count < 8; count++) there.push(await cluster.add('node2'));
  const given = [...here, ...there].map(({ address }) => address);
  assert.equal(new Set(given).size, 8, given.join(' '));
  await cluster.refuses('node2');
  const blocks = await cluster.blocks();
  // All of a block, which then is nobody's need.
  for (const { pod } of there.splice(0, 2)) await cluster.remove(pod);
  const [leaving] = here;
  await cluster.remove(leaving?.pod ?? '');

  for (const { what, ahead, wait } of SETTINGS) {
    traffic.during = `a clock was set ${what}`;
    await cluster.set('node2', ahead);
    await cluster.isWell();
    for (const node of ['node1', 'node2']) await cluster.refuses(node);
    await cluster.remove(there.shift()?.pod ?? '');
    // What one node gives back rests for others by its clock: where that is behind, it has rested long ago.
    for (const node of ahead < 0 ? ['node2'] : ['node1', 'node2']) await cluster.refuses(node);
    await pause(wait);
    await cluster.isWell();
    assert.deepEqual(await cluster.blocks(), blocks);
    t.diagnostic(`well after: ${traffic.during}`);
  }

  traffic.during = 'nothing had to rest any more';
  await cluster.tinyPool(0);
  for (const node of ['node1', 'node2']) {
    const { address } = await cluster.add(node);
    assert.ok(
      given.includes(address) && ![...here.slice(1), ...there].some((each) => each.address === address),
    );
  }
  await cluster.isWell();
  const { lost, pings, lines } = await traffic.end();
  assert.deepEqual(lost, []);
  for (const count of [pings, ...lines]) assert.ok(count > 0);
});
