import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { askStatus } from '@heddle/agent';
import { CniError } from '@heddle/cni';
import { type StartedAgent, startAgent } from '../support/agent-lane.ts';
import { assertUnchanged, leftovers } from '../support/leftovers.ts';
import { Node, type Pod } from '../support/node.ts';
import { installClient } from '../support/plugin-directory.ts';
import { FULL_CHAIN } from './full-chain.ts';

const CALLERS = 16;
/** ADDs with their DELs: 1,000 where there is time for them. */
const PAIRS = process.env['HEDDLE_TEST_LONG'] === undefined ? 96 : 1000;
/** Milliseconds; the client's own deadline, which a call may come up to twice: its DEL is done anew. */
const DEADLINE = 60_000;

/** A node whose runtime goes through the client, and whose agent comes and goes. */
class Storm implements Disposable {
  readonly node = new Node();
  readonly socket = join(this.node.directory, 'agent.sock');
  readonly bin = installClient(join(this.node.directory, 'bin'));
  readonly #agents: StartedAgent[] = [];
  readonly #pods: Pod[] = [];
  readonly #runtime = this.node.runtime([this.bin]);
  readonly #network = this.node.network(FULL_CHAIN);
  readonly failures: CniError[] = [];
  slowest = 0;

  constructor() {
    // That of the lane, if this runs in it, is not the one that comes and goes.
    rmSync(this.socket, { force: true });
    this.start();
  }

  get agents(): readonly StartedAgent[] {
    return this.#agents;
  }

  start(): StartedAgent {
    const agent = startAgent(this.node.handle, this.node.directory);
    this.#agents.push(agent);
    return agent;
  }

  /** The number of the process that serves at the socket now. */
  async serving(): Promise<number | undefined> {
    return await askStatus(this.socket, DEADLINE).then(
      ({ pid }) => pid,
      () => undefined,
    );
  }

  /** What ADDs and DELs make for good, such as the bridge, is made. */
  async settle(): Promise<readonly string[]> {
    const pod = this.#pod('first', 0);
    await this.#runtime.add(this.#network, pod.attachment);
    await this.#runtime.del(this.#network, pod.attachment);
    return this.state();
  }

  state(): readonly string[] {
    return leftovers(this.node, [join(this.node.directory, 'ipam'), join(this.node.directory, 'cache')]);
  }

  /**
   * All callers at once, each with one pod after the other, while something else goes on; longer than the pairs take, if
   * that has not happened often enough by then: slowly, so that agents get time to start.
   */
  async blow(meanwhile: (isOver: () => boolean) => Promise<void>, isEnough = () => true): Promise<void> {
    let begun = 0;
    let isOver = false;
    const other = meanwhile(() => isOver);
    await Promise.all(
      Array.from({ length: CALLERS }, async (_, caller) => {
        while (begun < PAIRS || !isEnough()) {
          if (begun >= PAIRS) await sleep(100);
          const pod = this.#pod(`pod${begun++}`, caller);
          await this.#call(() => this.#runtime.add(this.#network, pod.attachment));
          await this.#call(() => this.#runtime.del(this.#network, pod.attachment));
        }
      }),
    );
    isOver = true;
    await other;
  }

  /** The final round. */
  async clean(): Promise<void> {
    for (const pod of this.#pods) await this.#runtime.del(this.#network, pod.attachment);
    await this.#runtime.gc(this.#network, []);
  }

  [Symbol.dispose](): void {
    for (const pod of this.#pods) pod[Symbol.dispose]();
    for (const agent of this.#agents) agent[Symbol.dispose]();
    this.node[Symbol.dispose]();
  }

  #pod(id: string, caller: number): Pod {
    const portMappings = [{ hostPort: 20_000 + caller, containerPort: 80, protocol: 'tcp' }];
    const pod = this.node.pod(id, { capabilityArgs: { portMappings } });
    this.#pods.push(pod);
    return pod;
  }

  async #call(operate: () => Promise<unknown>): Promise<void> {
    const began = performance.now();
    try {
      await operate();
    } catch (error) {
      assert.ok(error instanceof CniError, String(error));
      this.failures.push(error);
    }
    this.slowest = Math.max(this.slowest, performance.now() - began);
  }
}

test(`an agent that is killed at random during ${PAIRS} ADDs and DELs leaves errors, but nothing else`, async () => {
  using storm = new Storm();
  const before = await storm.settle();
  let kills = 0;
  const kill = async (isOver: () => boolean) => {
    for (; !isOver(); kills++) {
      // Long enough for some calls to succeed, short enough to hit others at every point.
      await sleep(20 + Math.random() * 200);
      storm.agents.at(-1)?.[Symbol.dispose]();
      // What was killed has left its socket, at which nobody answers.
      await sleep(Math.random() * 50);
      rmSync(storm.socket, { force: true });
      storm.start();
    }
  };
  await storm.blow(kill, () => kills > 3);
  await storm.clean();
  assertUnchanged(before, storm.state());
  assert.ok(kills > 3, `${kills} kills`);
  assert.ok(storm.slowest < 2 * DEADLINE, `a call took ${storm.slowest} ms`);
  const { length: failed } = storm.failures;
  console.log(`${kills} kills, ${failed} failed calls, the slowest took ${storm.slowest.toFixed(0)} ms`);
});

test(`an agent that is replaced again and again during ${PAIRS} ADDs and DELs fails none of them`, async () => {
  using storm = new Storm();
  // A call that no agent took would be an error.
  rmSync(join(storm.bin, 'heddle-cni'));
  const before = await storm.settle();
  const replace = async (isOver: () => boolean) => {
    while (!isOver()) {
      await sleep(Math.random() * 100);
      const { pid } = storm.start();
      while ((await storm.serving()) !== pid) await sleep(10);
    }
  };
  await storm.blow(replace, () => storm.agents.length > 4);
  assert.deepEqual(storm.failures.map(String), []);
  await storm.clean();
  assertUnchanged(before, storm.state());
  const old = storm.agents.slice(0, -1);
  while (!old.every(({ hasEnded }) => hasEnded)) await sleep(10);
  assert.equal(storm.agents.at(-1)?.hasEnded, false);
  assert.ok(old.length > 3, `${old.length} were replaced`);
  console.log(`${old.length} agents were replaced, the slowest call took ${storm.slowest.toFixed(0)} ms`);
});
