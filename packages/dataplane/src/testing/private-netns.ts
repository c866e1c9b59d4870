/** A private network namespace for tests of this package. */
import { spawnSync } from 'node:child_process';
import { type KernelSession, openSession } from '@heddle/netlink';
import { createNetns, type NetnsHandle, runInNetns } from '@heddle/sys';

/** See the file's comment. Its loopback link is up; it is gone when it is disposed of. */
export class PrivateNetns implements Disposable {
  readonly handle: NetnsHandle = createNetns();
  readonly session: KernelSession = openSession({ netns: this.handle, mode: 'sync' });

  constructor() {
    // Duplicate address detection would keep even a link's own address from being used for a second.
    this.run('sysctl -qw net.ipv6.conf.default.accept_dad=0');
    this.run('ip link set lo up');
  }

  /** A path that names the namespace for other processes. */
  get path(): string {
    return `/proc/${process.pid}/fd/${this.handle.number}`;
  }

  /** Runs a command inside and returns what it prints. @throws {Error} with what it complains about */
  run(command: string, input = ''): string {
    const [program = '', ...args] = command.split(' ');
    const { status, stdout, stderr, error } = runInNetns(this.handle, () =>
      spawnSync(program, args, { input, encoding: 'utf8' }),
    );
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(`${command}: ${stderr.trim()}`);
    return stdout;
  }

  /** Whether a ping comes back. */
  pings(address: string): boolean {
    try {
      this.run(`ping -n -c 1 -W 1 ${address}`);
      return true;
    } catch {
      return false;
    }
  }

  /** All of nftables as text. */
  get ruleset(): string {
    return this.run('nft list ruleset');
  }

  [Symbol.dispose](): void {
    this.session[Symbol.dispose]();
    this.handle[Symbol.dispose]();
  }
}

/** Joins two namespaces by a pair of links. */
export function join(
  left: PrivateNetns,
  right: PrivateNetns,
  names: readonly [left: string, right: string],
): void {
  left.run(`ip link add ${names[0]} type veth peer name ${names[1]} netns ${right.path}`);
  left.run(`ip link set ${names[0]} up`);
  right.run(`ip link set ${names[1]} up`);
}
