/** A running lab, seen from outside of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { decodeConfig } from '@heddle/cni';
import {
  makeDirectory,
  openMounts,
  openNetns,
  openPids,
  runInMounts,
  runInNetns,
  runInNewPids,
  runInPids,
} from '@heddle/sys';
import { LabError, type LabErrorCode } from '../lab-error.ts';
import { type LabSpec, labSpec } from '../spec.ts';
import type { KeeperOrder } from './keeper.ts';
import { LAB_DIRECTORY, type LabPlaces, labPlaces } from './places.ts';
import type { AnswerMessage, FailureMessage, RequestName, Requests, StartMessage } from './protocol.ts';

/** How a lab is started. */
export interface StartOptions {
  /** `default` unless said otherwise; several labs can run beside each other. */
  readonly name?: string | undefined;
  /** Where labs are; `/run/heddle/lab` unless said otherwise. */
  readonly directory?: string | undefined;
  /** The `heddle` command and what goes before its arguments; it is started as `heddle lab keep`. */
  readonly program: readonly string[];
  /** Whether the lab ends with this process, in whatever way that ends. */
  readonly owned?: boolean | undefined;
  /** Hears what is being done. */
  readonly tell?: (what: string) => void;
}

/**
 * A lab that runs in a process of its own.
 *
 * @example
 * await using lab = await RunningLab.start(specOf({ nodes: 3 }), { program: ['/usr/local/bin/heddle'], owned: true });
 * console.log(matrixText(await lab.ask('matrix', {})));
 */
export class RunningLab implements AsyncDisposable {
  readonly name: string;
  readonly #places: LabPlaces;

  private constructor(name: string, places: LabPlaces) {
    this.name = name;
    this.#places = places;
  }

  /**
   * Makes a lab, and returns when all of it is there.
   *
   * @throws {LabError} LAB_EXISTS when one of that name runs; LAB_FAILED, and then nothing is left
   * @throws {ConfigError} when the specification is not valid
   */
  static async start(
    spec: LabSpec,
    { name = DEFAULT_NAME, directory = LAB_DIRECTORY, program, owned = false, tell }: StartOptions,
  ): Promise<RunningLab> {
    const resolved = decodeConfig(labSpec, spec, { what: 'lab' });
    const places = labPlaces(directory, name);
    clearPlaces(name, places);
    const order: KeeperOrder = { name, directory, spec: resolved, program, owned };
    const keeper = startKeeper(order, places);
    const gone = new Promise((resolve) => keeper.once('close', resolve));
    try {
      await untilReady(keeper, tell ?? (() => undefined));
    } catch (error) {
      keeper.kill('SIGKILL');
      await gone;
      rmSync(places.directory, { recursive: true, force: true });
      removeEmpty(directory);
      throw error;
    }
    if (!owned) {
      keeper.stdin?.destroy();
      keeper.stdout?.destroy();
      keeper.unref();
    }
    return new RunningLab(name, places);
  }

  /** Finds a lab that runs. @throws {LabError} LAB_MISSING */
  static open({
    name = DEFAULT_NAME,
    directory = LAB_DIRECTORY,
  }: Pick<StartOptions, 'name' | 'directory'> = {}): RunningLab {
    const places = labPlaces(directory, name);
    if (keeperOf(places) !== undefined) return new RunningLab(name, places);
    throw new LabError('LAB_MISSING', `no lab ${name} is running`, { hint: '`heddle lab up` starts one' });
  }

  /** The names of the labs that run. */
  static list(directory = LAB_DIRECTORY): readonly string[] {
    if (!existsSync(directory)) return [];
    return readdirSync(directory).filter((name) => keeperOf(labPlaces(directory, name)) !== undefined);
  }

  /** Asks the lab for something. @throws {LabError} what it says */
  async ask<N extends RequestName>(request: N, takes: Requests[N]['takes']): Promise<Requests[N]['gives']> {
    const line = await exchange(this.#places.socket, `${JSON.stringify({ request, takes })}\n`);
    if (line === '') throw new LabError('LAB_MISSING', `lab ${this.name} ended`);
    const answer = JSON.parse(line) as AnswerMessage;
    if ('failure' in answer) throw errorOf(answer.failure);
    return answer.gives as Requests[N]['gives'];
  }

  /**
   * Starts a program on a machine, or in the network of a pod, with this process's own streams unless said otherwise.
   *
   * @param stdio as spawn(2) of Node.js takes it
   */
  async spawn(
    on: string,
    [program = '', ...args]: readonly string[],
    {
      env = {},
      stdio = 'inherit',
    }: { env?: Readonly<Record<string, string | undefined>>; stdio?: 'inherit' | 'pipe' } = {},
  ): Promise<ChildProcess> {
    const place = await this.ask('whereabouts', { name: on });
    const keeper = `/proc/${keeperOf(this.#places)}`;
    using mounts = openMounts(`${keeper}/fd/${place.mounts}`);
    using netns = openNetns(`${keeper}/fd/${place.netns}`);
    using pids = openPids(`${keeper}/ns/pid`);
    const options = { cwd: '/', env: { ...env, ...place.env, HEDDLE_LAB_HOST: on }, stdio };
    // The mounts last: the node's /proc does not know this process, and so has no namespaces of it to come back to.
    return runInPids(pids, () =>
      runInNetns(netns, () => runInMounts(mounts, () => spawn(program, args, options))),
    );
  }

  /** Takes the lab down, and returns when nothing of it is left. */
  async down(): Promise<void> {
    const keeper = keeperOf(this.#places);
    try {
      await this.ask('down', {});
    } catch (error) {
      if (!LabError.is(error, 'LAB_MISSING')) throw error;
    }
    for (let waited = 0; keeperOf(this.#places) !== undefined; waited += 20) {
      if (waited > END_PATIENCE && keeper !== undefined) kill(keeper);
      await pause(20);
    }
    rmSync(this.#places.directory, { recursive: true, force: true });
    removeEmpty(dirname(this.#places.directory));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
  }
}

const DEFAULT_NAME = 'default';
/** Milliseconds. */
const END_PATIENCE = 10_000;

/** Takes what a lab has left behind that was killed. */
function clearPlaces(name: string, places: LabPlaces): void {
  if (keeperOf(places) !== undefined) {
    throw new LabError('LAB_EXISTS', `lab ${name} is running`, {
      hint: '`heddle lab down` ends it; --lab gives another one a name of its own',
    });
  }
  rmSync(places.directory, { recursive: true, force: true });
  makeDirectory(places.directory, 0o700);
}

/** The keeper's number, when it runs. A number that another process has by now is told by what that is. */
function keeperOf({ pid, directory }: LabPlaces): string | undefined {
  try {
    const number = readFileSync(pid, 'utf8').trim();
    const line = readFileSync(`/proc/${number}/cmdline`, 'utf8').split('\0');
    return line.includes('keep') && line.includes(directory) ? number : undefined;
  } catch {
    return undefined;
  }
}

function startKeeper(order: KeeperOrder, places: LabPlaces): ChildProcess {
  const log = openSync(places.log, 'a', 0o600);
  const [program = '', ...args] = order.program;
  const keeper = runInNewPids(() =>
    // The directory is there for whoever looks at the process.
    spawn(program, [...args, 'lab', 'keep', places.directory], {
      stdio: ['pipe', 'pipe', log],
      detached: true,
      cwd: '/',
    }),
  );
  closeSync(log);
  keeper.stdin?.on('error', () => undefined).write(`${JSON.stringify(order)}\n`);
  writeFileSync(places.pid, `${keeper.pid ?? ''}\n`, { mode: 0o600 });
  return keeper;
}

async function untilReady(keeper: ChildProcess, tell: (what: string) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  keeper.once('error', (cause) =>
    reject(new LabError('LAB_FAILED', "the lab's process cannot be started", { cause })),
  );
  const lines = createInterface({ input: keeper.stdout as NodeJS.ReadableStream });
  lines.on('line', (line) => {
    const message = JSON.parse(line) as StartMessage;
    if ('done' in message) tell(message.done);
    else if ('ready' in message) resolve();
    else reject(errorOf(message.failure));
  });
  lines.once('close', () => reject(new LabError('LAB_FAILED', "the lab's process ended")));
  await promise;
}

function errorOf({ code, message, hint }: FailureMessage): LabError {
  const own: LabErrorCode =
    code === 'LAB_MISSING' || code === 'LAB_EXISTS' || code === 'LAB_INVALID' ? code : 'LAB_FAILED';
  return new LabError(own, message, hint === undefined ? {} : { hint });
}

function exchange(socket: string, line: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let said = '';
  const client = connect(socket, () => client.write(line));
  client.setEncoding('utf8');
  client.on('data', (text) => {
    said += text;
  });
  client.once('close', () => resolve(said));
  client.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET') resolve('');
    else reject(error);
  });
  return promise;
}

/** Another lab may be there, or have come meanwhile. */
function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'ENOENT' && code !== 'EBUSY') throw error;
  }
}

function kill(process_: string): void {
  try {
    process.kill(Number(process_), 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
