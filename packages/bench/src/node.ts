/** A node of its own for one contender: private namespaces and places, pods, and calls of plugins in them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BenchError } from './bench-error.ts';
import { Driver } from './driver.ts';
import { type BatchOutcome, decodeBatch } from './outcome.ts';
import { encodeTexts } from './texts.ts';

/** One call of a program. */
export interface Step {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its input; a pair is put around what the step before has printed. */
  readonly input: string | readonly [before: string, after: string];
}

/** Calls one after the other, for one pod. */
export interface Job {
  /** The pod's name; `undefined` for calls that are about none. */
  readonly pod: string | undefined;
  readonly ifName: string;
  readonly steps: readonly Step[];
  /** Addresses of the node that the pod sends a packet to, when all steps have succeeded. */
  readonly probes: readonly string[];
}

/** How jobs are run. */
export interface BatchOptions {
  /** Jobs at a time. */
  readonly parallel: number;
  /** Milliseconds after which a program is killed. */
  readonly patience: number;
  /** Milliseconds after which a packet counts as lost. */
  readonly probePatience: number;
  /** Whether a job ends at the first step that fails. */
  readonly stops: boolean;
}

/** A program that serves calls. */
export interface Service {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Directories that it needs. */
  readonly needs: readonly string[];
  /** The file that is there when it serves. */
  readonly readyPath: string;
}

/** See the file's comment. */
export class BenchNode implements AsyncDisposable {
  readonly #driver: Driver;
  /** Where the node's files can be reached from here. */
  readonly root: string;

  private constructor(driver: Driver, firstProcess: number) {
    this.#driver = driver;
    this.root = `/proc/${firstProcess}/root`;
  }

  /**
   * Makes a node.
   *
   * @param needed directories that must be there; the node sees nothing else of the places that it has for itself
   * @throws {BenchError} BENCH_DRIVER when namespaces cannot be made
   */
  static async make(needed: readonly string[]): Promise<BenchNode> {
    const kept = new Set(needed);
    const driver = new Driver([
      ...COVERED.flatMap((path) => ['--cover', path]),
      ...[...kept].filter(isCovered).flatMap((path) => ['--keep', path]),
    ]);
    const [firstProcess] = await driver.answer();
    return new BenchNode(driver, Number(firstProcess));
  }

  /** Makes pods: network namespaces with nothing in them. */
  async makePods(names: readonly string[]): Promise<void> {
    await this.#driver.ask(['make', ...names]);
  }

  /** Takes pods away. */
  async dropPods(names: readonly string[]): Promise<void> {
    await this.#driver.ask(['drop', ...names]);
  }

  /**
   * Starts a program that stays until the node is gone, and waits until it serves.
   *
   * @returns its number in the node
   * @throws {BenchError} BENCH_FAILED with what it has said, when it does not
   */
  async start({ program, args, env, readyPath }: Service): Promise<number> {
    const log = '/run/service.log';
    const [number] = await this.#driver.ask([
      ...['start', program, log],
      ...[encodeTexts(args), encodeTexts(variables(env))],
    ]);
    for (let waited = 0; !existsSync(join(this.root, readyPath)); waited += 20) {
      if (waited > SERVICE_PATIENCE || !this.#isRunning(Number(number))) {
        const said = readFileSync(join(this.root, log), 'utf8').trim();
        throw new BenchError('BENCH_FAILED', `start ${program}: it does not serve: ${said}`);
      }
      await pause(20);
    }
    return Number(number);
  }

  /** Runs jobs. */
  async run(
    jobs: readonly Job[],
    { parallel, patience, probePatience, stops }: BatchOptions,
  ): Promise<BatchOutcome> {
    const workers = Math.max(1, Math.min(parallel, jobs.length));
    return decodeBatch(
      await this.#driver.ask([
        'run',
        workers,
        patience,
        probePatience,
        stops ? 1 : 0,
        ...jobs.map(encodeJob),
      ]),
    );
  }

  /** A process that has ended stays in the list until it is collected. */
  #isRunning(number: number): boolean {
    const stat = join(this.root, 'proc', String(number), 'stat');
    return existsSync(stat) && !readFileSync(stat, 'utf8').includes(') Z ');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#driver[Symbol.asyncDispose]();
  }
}

/** Where a pod's namespace is. */
export function podPath(name: string): string {
  return `/run/netns/${name}`;
}

/** Directories of which a node has its own; everything else it can only read. */
const COVERED = ['/run', '/tmp', '/var/lib'];
const SERVICE_PATIENCE = 30_000;

function isCovered(path: string): boolean {
  return COVERED.some((covered) => path.startsWith(`${covered}/`));
}

function variables(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

function encodeJob({ pod, ifName, steps, probes }: Job): Buffer {
  return encodeTexts([
    ...[pod === undefined ? '' : podPath(pod), ifName],
    ...[encodeTexts(steps.map(encodeStep)), encodeTexts(probes)],
  ]);
}

function encodeStep({ program, env, input }: Step): Buffer {
  const [before, after, joined] = typeof input === 'string' ? [input, '', 0] : [...input, 1];
  return encodeTexts([program, before, after, joined, ...variables(env)]);
}
