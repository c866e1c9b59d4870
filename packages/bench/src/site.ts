/** A contender at work on one network: its node, its agent, its pods. */
import { createHash } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { isJsonObject, type JsonValue, type NetworkConfigList } from '@heddle/cni';
import { calledPlugins, IF_NAME, jobFor, type Pod, typesOf, type Verb } from './calls.ts';
import { type Contender, NODE_ENVIRONMENT, programOf } from './contender.ts';
import { BenchNode } from './node.ts';
import type { JobOutcome } from './outcome.ts';
import { PodSupply } from './pod-supply.ts';
import { judge } from './verdict.ts';

/** A verb for one pod, and what came of it. */
export interface Attempt {
  readonly pod: Pod;
  /** Why it does not count; `undefined` when it does. */
  readonly failure: string | undefined;
  /** What the calls took together. */
  readonly milliseconds: number;
  /** What each call took, in the order in which they were made. */
  readonly steps: readonly number[];
  readonly outcome: JobOutcome;
}

/** A verb for several pods. */
export interface Batch {
  /** From the first call to the last. */
  readonly milliseconds: number;
  readonly attempts: readonly Attempt[];
}

/** How a batch is run. */
export interface RunOptions {
  readonly parallel: number;
  /** Addresses that must hear of each pod after ADD. */
  readonly probes: readonly string[];
}

/** How long things may take, in milliseconds. */
export interface Patience {
  readonly call: number;
  readonly packet: number;
}

/** See the file's comment. */
export class Site implements AsyncDisposable {
  readonly contender: Contender;
  readonly list: NetworkConfigList;
  readonly node: BenchNode;
  /** The agent's number in the node. */
  readonly agent: number | undefined;
  readonly pods: PodSupply;
  readonly #patience: Patience;

  private constructor(
    parts: Pick<Site, 'contender' | 'list' | 'node' | 'agent'>,
    options: { readonly ports: number; readonly patience: Patience },
  ) {
    this.contender = parts.contender;
    this.list = parts.list;
    this.node = parts.node;
    this.agent = parts.agent;
    this.pods = new PodSupply(parts.node, options.ports);
    this.#patience = options.patience;
  }

  /**
   * Makes a node, and starts the contender's agent in it.
   *
   * @param options.ports how many ports each pod publishes
   * @throws {BenchError} when it lacks a plugin of the network, or its agent does not come up
   */
  static async open(
    contender: Contender,
    list: NetworkConfigList,
    options: { readonly ports: number; readonly patience: Patience },
  ): Promise<Site> {
    const { agent } = contender;
    const programs = typesOf(list).map((type) => realpathSync(programOf(contender, type)));
    const node = await BenchNode.make([
      ...[contender.directory, ...programs.map((program) => dirname(program))],
      ...(agent?.needs ?? []),
    ]);
    try {
      const number = agent && (await node.start(agent));
      return new Site({ contender, list, node, agent: number }, options);
    } catch (error) {
      await node[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs a verb for pods and judges it. ADD leaves each pod with its result. */
  async run(verb: Verb, pods: readonly Pod[], { parallel, probes }: RunOptions): Promise<Batch> {
    const { list, contender } = this;
    const asked = verb === 'ADD' ? probes : [];
    const types = calledPlugins(list, verb).map(({ type }) => type);
    const { milliseconds, jobs } = await this.node.run(
      pods.map((pod) => jobFor(list, contender, { verb, pod, probes: asked })),
      {
        parallel,
        patience: this.#patience.call,
        probePatience: this.#patience.packet,
        // A failed DEL of one plugin is no reason to leave the others' work behind.
        stops: verb !== 'DEL',
      },
    );
    const attempts = jobs.map((outcome, index) => {
      const pod = pods[index] as Pod;
      const verdict = judge(verb, outcome, { types, probes: asked, version: list.cniVersion });
      if (verb === 'ADD') pod.result = 'result' in verdict ? verdict.result : undefined;
      const steps = outcome.steps.map((step) => step.milliseconds);
      return {
        ...{ pod, outcome, steps },
        failure: 'failure' in verdict ? verdict.failure : undefined,
        milliseconds: steps.reduce((sum, each) => sum + each, 0),
      };
    });
    return { milliseconds, attempts };
  }

  /** What each plugin says of itself when nothing is asked of it, which is its version for some; and its digest. */
  async versions(): Promise<Readonly<Record<string, string>>> {
    const types = typesOf(this.list);
    const { jobs } = await this.node.run(
      types.map((type) => ({
        pod: undefined,
        ifName: IF_NAME,
        steps: [{ program: programOf(this.contender, type), env: NODE_ENVIRONMENT, input: '' }],
        probes: [],
      })),
      { parallel: 1, patience: this.#patience.call, probePatience: 0, stops: true },
    );
    return Object.fromEntries(
      types.map((type, index) => {
        const said = jobs[index]?.steps[0]?.stderr.trim().split('\n')[0] || 'unknown';
        return [type, `${said} (SHA-256 ${digestOf(programOf(this.contender, type))})`];
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
  }
}

/** The gateways that an attachment was given, one of each family at least where there is one. */
export function gatewaysOf(result: JsonValue | undefined): readonly string[] {
  const ips = isJsonObject(result) ? result['ips'] : undefined;
  if (!Array.isArray(ips)) return [];
  const gateways = ips.map((ip) => (isJsonObject(ip) ? ip['gateway'] : undefined));
  return [...new Set(gateways.filter((gateway) => typeof gateway === 'string'))];
}

/** Enough of a file's digest to know it again. */
function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12);
}
