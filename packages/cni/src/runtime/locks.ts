/**
 * Who may run at the same time (specification 1.1.0, section 3, "Lifecycle & Ordering"): operations on one
 * container go one after the other; GC of a network excludes every ADD, DEL and CHECK of it. The rules hold
 * between all processes that share the directory.
 */
import { join } from 'node:path';
import type { LockMode } from '@heddle/sys';
import { lockFile, removeLockFile } from './lock-file.ts';

/** Locks for the runtime. Each ends when it is disposed of. Waiting ends with the signal's reason. */
export interface RuntimeLocks {
  /** GC asks for `exclusive`, the others for `shared`. */
  network(name: string, mode: Exclude<LockMode, 'unlock'>, signal?: AbortSignal): Promise<Disposable>;
  /** All operations on a container. Taken after the network's, so that nobody waits in a circle. */
  container(containerID: string, signal?: AbortSignal): Promise<Disposable>;
}

/**
 * Locks as files in a directory, usually below /run. Names must have been validated.
 *
 * @example
 * using network = await locks.network('n1', 'shared', signal);
 * using container = await locks.container('c1', signal);
 */
export class FileLocks implements RuntimeLocks {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async network(name: string, mode: Exclude<LockMode, 'unlock'>, signal?: AbortSignal): Promise<Disposable> {
    // flock(2) is not fair: without the gate, ADDs that overlap would keep a GC waiting for ever. A GC that
    // waits holds the gate, and whoever comes later queues there.
    using _gate = await lockFile(join(this.#directory, 'gates', name), mode, signal);
    return await lockFile(join(this.#directory, 'networks', name), mode, signal);
  }

  async container(containerID: string, signal?: AbortSignal): Promise<Disposable> {
    const path = join(this.#directory, 'containers', containerID);
    const file = await lockFile(path, 'exclusive', signal);
    return { [Symbol.dispose]: () => removeLockFile(file, path) };
  }
}
