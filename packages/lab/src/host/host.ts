/** A machine of the lab: network, files and processes as a machine of its own has them. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { openSession } from '@heddle/netlink';
import {
  bindNetns,
  createMounts,
  createNetns,
  type MountsHandle,
  makeDirectory,
  type NetnsHandle,
  runInMounts,
  runInNetns,
  unbindNetns,
} from '@heddle/sys';
import { LabError } from '../lab-error.ts';
import { ownFiles } from './own-files.ts';

/** How a program ended, and what it said. */
export interface Outcome {
  /** The exit code; 128 and more when a signal ended it. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** See the file's comment. */
export class Host implements Disposable {
  readonly name: string;
  readonly netns: NetnsHandle;
  readonly mounts: MountsHandle;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(
    name: string,
    parts: Pick<Host, 'netns' | 'mounts'>,
    env: Readonly<Record<string, string>>,
  ) {
    this.name = name;
    this.netns = parts.netns;
    this.mounts = parts.mounts;
    this.#env = env;
  }

  /**
   * Makes a machine without an interface. It sees this machine's files, but what is below `/etc`, `/opt`, `/run` and
   * `/var/lib` it writes for itself.
   *
   * @param shared a directory that all machines have as `/run/lab`
   */
  static make(
    name: string,
    { shared, env }: { readonly shared: string; readonly env: Readonly<Record<string, string>> },
  ): Host {
    const netns = createNetns();
    try {
      const mounts = createMounts(() => ownFiles(name, netns, shared));
      return new Host(name, { netns, mounts }, env);
    } catch (error) {
      netns[Symbol.dispose]();
      throw error;
    }
  }

  /** Starts a program on this machine, or in the network of one of its pods. */
  spawn(
    [program = '', ...args]: readonly string[],
    options: SpawnOptions = {},
    netns: NetnsHandle = this.netns,
  ): ChildProcess {
    const all = { ...options, cwd: '/', env: { ...this.#env, HEDDLE_LAB_HOST: this.name, ...options.env } };
    return runInNetns(netns, () => runInMounts(this.mounts, () => spawn(program, args, all)));
  }

  /** Runs a program to its end. */
  run(
    command: readonly string[],
    { netns, stdin }: { netns?: NetnsHandle; stdin?: string } = {},
  ): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const child = this.spawn(command, { stdio: ['pipe', 'pipe', 'pipe'] }, netns);
      const said = { stdout: '', stderr: '' };
      for (const stream of ['stdout', 'stderr'] as const) {
        child[stream]?.setEncoding('utf8').on('data', (text: string) => {
          said[stream] += text;
        });
      }
      child.once('error', (error) =>
        reject(
          new LabError('LAB_FAILED', `${this.name}: ${command.join(' ')}: it cannot be started`, {
            cause: error,
          }),
        ),
      );
      child.once('close', (code, signal) =>
        resolve({ status: code ?? (signal === null ? 128 : 137), ...said }),
      );
      child.stdin?.on('error', () => undefined).end(stdin ?? '');
    });
  }

  /**
   * The same for a program that has to succeed; gives what it prints.
   *
   * @throws {LabError} with what it says on stderr
   */
  async must(
    command: readonly string[],
    options: { netns?: NetnsHandle; stdin?: string } = {},
  ): Promise<string> {
    const { status, stdout, stderr } = await this.run(command, options);
    if (status === 0) return stdout;
    const said = stderr.trim() || stdout.trim();
    throw new LabError('LAB_FAILED', `${this.name}: ${command.join(' ')}: ended with ${status}: ${said}`);
  }

  /** Runs a function that uses the machine's files synchronously. */
  within<T>(use: () => T): T {
    return runInMounts(this.mounts, use);
  }

  /** Makes the namespace of a pod, as a container runtime does. It has a path on this machine. */
  async addPod(name: string): Promise<NetnsHandle> {
    const netns = createNetns();
    try {
      using inside = openSession({ netns });
      await inside.links.set('lo', { up: true });
      this.within(() => {
        makeDirectory('/run/netns', 0o755);
        bindNetns(netns, podPath(name));
      });
      return netns;
    } catch (error) {
      netns[Symbol.dispose]();
      throw error;
    }
  }

  /** Takes the path of a pod's namespace away. */
  dropPod(name: string): void {
    this.within(() => unbindNetns(podPath(name)));
  }

  [Symbol.dispose](): void {
    this.mounts[Symbol.dispose]();
    this.netns[Symbol.dispose]();
  }
}

/** Where a pod's namespace is on its node. */
function podPath(pod: string): string {
  return `/run/netns/${pod}`;
}
