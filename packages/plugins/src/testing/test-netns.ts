/** A network namespace for a test: nothing on the machine refers to it, so nothing of it outlives the test. */
import { spawnSync } from 'node:child_process';
import { type KernelSession, openSession } from '@heddle/netlink';
import { createNetns, type NetnsHandle, openNetns, runInNetns } from '@heddle/sys';

/**
 * A private namespace. It is reachable by a path under `/proc` for as long as it is not disposed of, from other
 * processes too.
 *
 * @example
 * using pod = new TestNetns();
 * pod.json('ip', '-j', 'address');
 */
export class TestNetns implements Disposable {
  readonly handle: NetnsHandle;
  /** The kernel as seen from inside. */
  readonly session: KernelSession;

  constructor() {
    this.handle = createNetns();
    this.session = openSession({ netns: this.handle, mode: 'sync' });
  }

  /** A path that names the namespace, as CNI_NETNS takes it. */
  get path(): string {
    return `/proc/${process.pid}/fd/${this.handle.number}`;
  }

  /**
   * Runs a program inside and returns what it prints.
   *
   * @throws {Error} with what it says on stderr, when it fails or does not exist
   */
  run(program: string, ...args: readonly string[]): string {
    const { status, stdout, stderr, error } = runInNetns(this.handle, () =>
      spawnSync(program, args, { encoding: 'utf8' }),
    );
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }

  /** The same for a program that prints JSON. */
  json(program: string, ...args: readonly string[]): unknown {
    const text = this.run(program, ...args).trim();
    return text === '' ? [] : JSON.parse(text);
  }

  /** Whether a ping from inside to this address comes back. */
  pings(address: string, ...args: readonly string[]): boolean {
    const how = { encoding: 'utf8' } as const;
    const { status } = runInNetns(this.handle, () =>
      spawnSync('ping', ['-n', '-c', '1', '-W', '2', ...args, address], how),
    );
    return status === 0;
  }

  /** Closes everything that keeps the namespace alive. The kernel takes it down in its own time. */
  [Symbol.dispose](): void {
    this.session[Symbol.dispose]();
    this.handle[Symbol.dispose]();
  }

  /** A handle of the same namespace, of its own life. */
  reopen(): NetnsHandle {
    return openNetns(this.path);
  }
}
