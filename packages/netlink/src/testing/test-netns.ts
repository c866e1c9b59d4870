/** A network namespace for a test: nothing on the machine refers to it, so nothing of it outlives the test. */
import { spawnSync } from 'node:child_process';
import { createNetns, type NetnsHandle, openNetns, runInNetns } from '@heddle/sys';
import { type KernelSession, openSession } from '../session/session.ts';

/**
 * A private namespace. It is reachable by a path under `/proc` for as long as it is not disposed of, from other
 * processes too.
 *
 * @example
 * using node = new TestNetns();
 * using pod = new TestNetns();
 * node.join(pod, ['veth1', 'eth0']);
 * pod.run('ip address add 10.77.0.8/24 dev eth0');
 * pod.json('ip', '-j', 'address');
 */
export class TestNetns implements Disposable {
  readonly handle: NetnsHandle;
  /** The kernel as seen from inside. */
  readonly session: KernelSession;

  /** @param mode whether the session's requests block this thread or run on others */
  constructor(mode: 'sync' | 'threaded' = 'sync') {
    this.handle = createNetns();
    this.session = openSession({ netns: this.handle, mode });
  }

  /** A path that names the namespace, as CNI_NETNS takes it. */
  get path(): string {
    return `/proc/${process.pid}/fd/${this.handle.number}`;
  }

  /**
   * Runs a program inside and returns what it prints.
   *
   * @param command the program; where no arguments follow, the whole command, words between spaces
   * @throws {Error} with what it says on stderr, when it fails or does not exist
   */
  run(command: string, ...args: readonly string[]): string {
    const [program = '', ...words] = args.length === 0 ? command.split(' ') : [command, ...args];
    const { status, stdout, stderr, error } = runInNetns(this.handle, () =>
      spawnSync(program, words, { encoding: 'utf8' }),
    );
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(`${[program, ...words].join(' ')}: ${stderr.trim()}`);
    return stdout;
  }

  /** The same for a program that prints a list as JSON, of rows that the caller knows. */
  json<Row = Record<string, unknown>>(command: string, ...args: readonly string[]): Row[] {
    return JSON.parse(this.run(command, ...args).trim() || '[]');
  }

  /** Whether a ping from inside to this address comes back. */
  pings(address: string, ...args: readonly string[]): boolean {
    const { status } = runInNetns(this.handle, () =>
      spawnSync('ping', ['-n', '-c', '1', '-W', '2', ...args, address]),
    );
    return status === 0;
  }

  /**
   * Lets IPv6 addresses of links that are made from now on be used as soon as the kernel has come to them, which on a busy
   * machine is a while after they were added (with `nodad` it is at once). Duplicate address detection keeps even a link's own
   * address from that for a second.
   */
  skipAddressDetection(): void {
    this.run('sysctl -qw net.ipv6.conf.default.accept_dad=0');
  }

  /** Joins it to another namespace by a pair of links, both up. */
  join(there: TestNetns, [name, nameThere]: readonly [here: string, there: string]): void {
    this.run(`ip link add ${name} type veth peer name ${nameThere} netns ${there.path}`);
    this.run(`ip link set ${name} up`);
    there.run(`ip link set ${nameThere} up`);
  }

  /** All of nftables as text. */
  get ruleset(): string {
    return this.run('nft list ruleset');
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
