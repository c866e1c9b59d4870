/**
 * The locks that an operation takes, and those that its caller's caller has already. A plugin may itself use
 * the runtime, to run another network for the same container: it must not wait for the operation that it is
 * part of. So the names of the locks that are held go down in the environment.
 */
import { HELD_LOCKS, heldLocks } from '../held-locks.ts';
import { CNI_CODE, CniError } from '../index.ts';
import type { RuntimeLocks } from './locks.ts';
import type { Environment } from './plugin-environment.ts';

/** What an operation has to itself. */
export interface Exclusion extends Disposable {
  /** The environment for plugins that run meanwhile. */
  readonly env: Environment;
  /** Adds the lock of a container. */
  container(containerID: string, signal?: AbortSignal): Promise<Exclusion>;
}

/** Takes locks, but for those that are held further up. */
export class HeldLocks {
  readonly #locks: RuntimeLocks;
  readonly #env: Environment;
  readonly #held: readonly string[];

  constructor(locks: RuntimeLocks, env: Environment) {
    this.#locks = locks;
    this.#env = env;
    this.#held = heldLocks(env);
  }

  /** Holds a network against GC, and a container against every other operation on it. */
  async attachment(network: string, containerID: string, signal?: AbortSignal): Promise<Exclusion> {
    using stack = new DisposableStack();
    const held = stack.use(await this.#network(network, 'shared', signal));
    const { env, container } = stack.use(await held.container(containerID, signal));
    const both = stack.move();
    return { env, container, [Symbol.dispose]: () => both.dispose() };
  }

  /**
   * Holds a network against everything else.
   *
   * @throws {CniError} code 11 inside an ADD, CHECK or DEL of the same network, which it would have to wait for.
   */
  async wholeNetwork(network: string, signal?: AbortSignal): Promise<Exclusion> {
    if (this.#held.includes(networkLock(network))) {
      throw new CniError(
        CNI_CODE.TRY_AGAIN,
        `gc of network "${network}": called by a plugin that it has to wait for`,
      );
    }
    return await this.#network(network, 'exclusive', signal);
  }

  async #network(network: string, mode: 'shared' | 'exclusive', signal?: AbortSignal): Promise<Exclusion> {
    const name = networkLock(network);
    const isHeld = this.#held.includes(name);
    const lock = isHeld ? new DisposableStack() : await this.#locks.network(network, mode, signal);
    return this.#exclusion(lock, [...this.#held, ...(isHeld ? [] : [name])]);
  }

  #exclusion(lock: Disposable, held: readonly string[]): Exclusion {
    return {
      env: { ...this.#env, [HELD_LOCKS]: held.join(',') },
      container: async (containerID, signal) => {
        const name = `container/${containerID}`;
        if (held.includes(name)) return this.#exclusion(new DisposableStack(), held);
        return this.#exclusion(await this.#locks.container(containerID, signal), [...held, name]);
      },
      [Symbol.dispose]: () => lock[Symbol.dispose](),
    };
  }
}

function networkLock(network: string): string {
  return `network/${network}`;
}
