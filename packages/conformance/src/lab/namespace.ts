/** A network namespace of the lab, reachable by a path as runtimes mount it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type KernelSession, openSession } from '@heddle/netlink';
import {
  bindNetns,
  createNetns,
  makeDirectory,
  type NetnsHandle,
  runInNetns,
  unbindNetns,
} from '@heddle/sys';

/**
 * How links that come into a namespace look for duplicates of their IPv6 addresses: as the kernel does unless it is told
 * otherwise, which takes one to two seconds for each, or not at all, which takes a moment. Without a carrier, as of a tap that
 * nobody has opened, they would else wait for one, and some plugins for them.
 */
export async function setDuplicateDetection(
  { session: { sysctl } }: Namespace,
  kind: 'thorough' | 'quick',
): Promise<void> {
  const value = kind === 'thorough' ? '1' : '0';
  await sysctl.write('net/ipv6/conf/default/accept_dad', value);
  await sysctl.write('net/ipv6/conf/default/dad_transmits', value);
  await sysctl.write('net/ipv6/conf/default/router_solicitation_delay', value);
}

const DIRECTORY = '/run/netns';

/** See the file's comment. Its loopback is down, as the kernel makes it. */
export class Namespace implements Disposable {
  readonly name: string;
  /** What CNI_NETNS says. */
  readonly path: string;
  readonly handle: NetnsHandle;
  /** The kernel as seen from inside. */
  readonly session: KernelSession;
  #alive = true;

  /** @param name unique in the lab */
  constructor(name: string) {
    this.name = name;
    this.path = join(DIRECTORY, name);
    this.handle = createNetns();
    makeDirectory(DIRECTORY);
    bindNetns(this.handle, this.path);
    this.session = openSession({ netns: this.handle, mode: 'sync' });
  }

  /** Runs something synchronously on a thread inside; programs that it starts are born there. */
  inside<T>(run: () => T): T {
    return runInNetns(this.handle, run);
  }

  /** Whether a link of that name is inside. */
  async has(link: string): Promise<boolean> {
    return (await this.session.links.find(link)) !== undefined;
  }

  /** Whether it has not been let go of. */
  get isAlive(): boolean {
    return this.#alive;
  }

  /** Lets go of the namespace, as a container that ended: its path is gone, and so is all that was inside. */
  [Symbol.dispose](): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.session[Symbol.dispose]();
    if (existsSync(this.path)) unbindNetns(this.path);
    this.handle[Symbol.dispose]();
  }
}
