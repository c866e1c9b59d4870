/**
 * The full chain of a usual node, killed at system calls that change something: the plugins' programs, and the agent that serves
 * in their place. After DEL and GC the node is as it was. An ordinary run takes some calls, HEDDLE_CRASH=all takes every one.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PluginExec, Runtime } from '@heddle/cni/runtime';
import { attachCrash, type CrashPoint, crashAt, pointText, spread } from '@heddle/conformance';
import { buildCrash } from '../../scripts/build-crash.ts';
import { inSandbox } from '../../scripts/sandbox.ts';
import { FULL_CHAIN } from '../agent/full-chain.ts';
import { type StartedAgent, startAgent } from '../support/agent-lane.ts';
import { assertUnchanged, leftovers } from '../support/leftovers.ts';
import { Node, type Pod } from '../support/node.ts';
import { installClient, installPlugins } from '../support/plugin-directory.ts';

buildCrash();

type Verb = 'add' | 'del';

/** Where plugins keep what is not below a directory of a node's own: the nodes of a sandbox share it. */
const OF_ALL_NODES: readonly string[] = ['/run/cni', '/run/heddle', '/var/lib/heddle'];

/** How the chain is carried, and killed. */
interface Lane extends Disposable {
  /** Has the pod attached or detached up to a call, which is killed; 0 for none. @returns the calls that were begun */
  operate(
    verb: Verb,
    pod: Pod,
    point: number,
  ): Promise<{ readonly points: readonly CrashPoint[]; readonly reached: boolean }>;
  /** Brings back what a machine would. */
  recover(): void;
}

class Scene implements Disposable {
  readonly node = new Node();
  readonly network = this.node.network(FULL_CHAIN);
  readonly bin: string;
  readonly runtime: Runtime;

  constructor(install: (directory: string) => string) {
    this.bin = install(join(this.node.directory, 'bin'));
    this.runtime = this.node.runtime([this.bin]);
  }

  pod(id: string): Pod {
    return this.node.pod(id, {
      capabilityArgs: { portMappings: [{ hostPort: 20_080, containerPort: 80, protocol: 'tcp' }] },
    });
  }

  state(): readonly string[] {
    return leftovers(this.node, [
      ...['ipam', 'cache', 'agent-queue'].map((name) => join(this.node.directory, name)),
      ...OF_ALL_NODES,
      '/var/lib/cni',
    ]);
  }

  [Symbol.dispose](): void {
    this.node[Symbol.dispose]();
  }
}

/** Each plugin is a process, the calls of all of them are counted in one go. */
class Programs implements Lane {
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async operate(verb: Verb, pod: Pod, point: number) {
    const { node, bin, network } = this.#scene;
    const points: CrashPoint[] = [];
    let reached = false;
    const usual = node.exec();
    const exec: PluginExec = {
      find: usual.find,
      run: async (run) => {
        if (reached) throw new Error('the runtime is gone');
        const before = points.length;
        const end = await crashAt({
          ...{ program: run.path, env: run.env, stdin: run.stdin, netns: node.handle },
          point: Math.max(0, point - before),
        });
        points.push(...end.points.map((each) => ({ ...each, number: before + each.number })));
        reached = end.reached;
        if (end.exitCode !== 0) throw new Error(`it ended with ${end.signal ?? end.exitCode}: ${end.stdout}`);
        return end;
      },
    };
    const work = node.runtime([bin], { exec })[verb](network, pod.attachment);
    await work.catch((error: unknown) => {
      if (!reached) throw error;
    });
    return { points, reached };
  }

  recover(): void {}

  [Symbol.dispose](): void {}
}

/** The agent dies, its clients go on; then there is another one. */
class Agents implements Lane {
  readonly #scene: Scene;
  #agent: StartedAgent;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#agent = startAgent(scene.node.handle, scene.node.directory);
  }

  async operate(verb: Verb, pod: Pod, point: number) {
    const { runtime, network } = this.#scene;
    const tracer = await attachCrash({ pid: this.#agent.pid, point });
    // An ADD that its agent has begun is an error, a DEL is done by the program behind the client.
    await runtime[verb](network, pod.attachment).catch((error: unknown) => {
      if (!tracer.report.reached) throw error;
    });
    return await tracer.release();
  }

  recover(): void {
    const { handle, directory } = this.#scene.node;
    this.#agent[Symbol.dispose]();
    rmSync(join(directory, 'agent.sock'), { force: true });
    this.#agent = startAgent(handle, directory);
  }

  [Symbol.dispose](): void {
    this.#agent[Symbol.dispose]();
  }
}

/** How many calls of each verb an ordinary run takes. */
const SAMPLE = process.env['HEDDLE_CRASH'] === 'all' ? Number.POSITIVE_INFINITY : 4;
/** The same for what takes a node of its own. */
const FIRST_SAMPLE = SAMPLE === Number.POSITIVE_INFINITY ? SAMPLE : 3;

/** The first attachment of a node, with a kill, and another one after it. @returns what there is at the end */
async function firstAttachment(
  install: (directory: string) => string,
  lane: (scene: Scene) => Lane,
  point: number,
) {
  // Otherwise only the first of these nodes would be one on which nothing was ever attached.
  if (inSandbox()) for (const directory of OF_ALL_NODES) rmSync(directory, { recursive: true, force: true });
  using scene = new Scene(install);
  using killed = lane(scene);
  const { runtime, network } = scene;
  using pod = scene.pod('first');
  const state = () =>
    scene.state().map((line) =>
      line
        .replaceAll(scene.node.directory, 'NODE')
        .replaceAll(MAC, 'MAC')
        .replace(/^\d+: /, ''),
    );
  const report = await killed.operate('add', pod, point);
  if (report.reached) killed.recover();
  await runtime.del(network, pod.attachment);
  await runtime.gc(network, []);
  await runtime.add(network, pod.attachment);
  await runtime.check(network, pod.attachment);
  await runtime.del(network, pod.attachment);
  await runtime.gc(network, []);
  return { report, end: state() };
}

/** What the kernel makes up for each link; the numbers of links are not compared either. */
const MAC = /\b([0-9a-f]{1,2}:){5}[0-9a-f]{1,2}\b/g;

for (const [what, install, lane] of [
  ['the plugins of the full chain', installPlugins, (scene: Scene) => new Programs(scene)],
  ['the agent that serves the full chain', installClient, (scene: Scene) => new Agents(scene)],
] as const) {
  test(`wherever a kill hits ${what} in the first ADD of a node, the next ADD completes what it needs`, async (t) => {
    const whole = await firstAttachment(install, lane, 0);
    const numbers = whole.report.points.map(({ number }) => number);
    let kills = 0;
    for (const point of spread(numbers, FIRST_SAMPLE)) {
      const { report, end } = await firstAttachment(install, lane, point);
      if (report.reached) kills++;
      const last = report.points.at(-1);
      assertUnchanged(whole.end, end, `a node whose first ADD was killed before ${last && pointText(last)}`);
    }
    assert.ok(kills > Math.min(numbers.length, FIRST_SAMPLE) / 2, `${kills} kills`);
    console.log(`${what}, the first ADD: killed at ${kills} of ${numbers.length} calls`);
    t.diagnostic(`killed at ${kills} of ${numbers.length} calls`);
  });

  for (const verb of ['add', 'del'] as const) {
    test(`wherever a kill hits ${what} in ${verb.toUpperCase()}, DEL and GC leave nothing`, async (t) => {
      using scene = new Scene(install);
      using killed = lane(scene);
      const { runtime, network } = scene;
      const attach = async (id: string, point: number) => {
        const pod = scene.pod(id);
        if (verb === 'del') await runtime.add(network, pod.attachment);
        const report = await killed.operate(verb, pod, point);
        if (report.reached) killed.recover();
        await runtime.del(network, pod.attachment);
        await runtime.gc(network, []);
        return { pod, report };
      };
      // What is made for good, and what is counted: an agent has learnt what it remembers.
      const first = await attach('first', 0);
      first.pod[Symbol.dispose]();
      const { pod, report } = await attach('count', 0);
      pod[Symbol.dispose]();
      const before = scene.state();
      const numbers = report.points.map(({ number }) => number);
      let kills = 0;
      for (const point of spread(numbers, SAMPLE)) {
        const { pod, report } = await attach('pod', point);
        if (report.reached) kills++;
        const last = report.points.at(-1);
        assertUnchanged(before, scene.state(), `the node after a kill before ${last && pointText(last)}`);
        await runtime.add(network, pod.attachment);
        await runtime.check(network, pod.attachment);
        await runtime.del(network, pod.attachment);
        pod[Symbol.dispose]();
      }
      assert.ok(kills > Math.min(numbers.length, SAMPLE) / 2, `${kills} kills`);
      t.diagnostic(`killed at ${kills} of ${numbers.length} calls`);
      console.log(`${what}, ${verb.toUpperCase()}: killed at ${kills} of ${numbers.length} calls`);
    });
  }
}
