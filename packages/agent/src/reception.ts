/** Takes callers in at the door, so many at a time; the others wait outside. */
import { accept, type Fd, SysError, watch } from '@heddle/sys';
import type { Door } from './door.ts';

/** See the file's comment. */
export class Reception {
  readonly #door: Door;
  readonly #most: number;
  readonly #serve: (client: Fd) => Promise<void>;
  #watching: Disposable | undefined;
  #present = 0;
  #closing: PromiseWithResolvers<void> | undefined;

  /** @param serve serves a client to the end and closes it; must not throw */
  constructor(door: Door, most: number, serve: (client: Fd) => Promise<void>) {
    this.#door = door;
    this.#most = most;
    this.#serve = serve;
  }

  /** How many are being served. */
  get present(): number {
    return this.#present;
  }

  /** Lets callers in from now on. */
  open(): void {
    this.#door.open();
    this.#listen();
  }

  /** Takes in those who have come already, and nobody else. Ends when all of them are served. */
  async close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = Promise.withResolvers();
      this.#door.hide();
      this.#letIn();
      this.#leave();
    }
    await this.#closing.promise;
  }

  #listen(): void {
    this.#watching ??= watch(this.#door.listener, () => this.#letIn());
  }

  #letIn(): void {
    while (this.#present < this.#most) {
      const client = nextAt(this.#door.listener);
      if (client === undefined) return;
      this.#present++;
      void this.#serve(client).finally(() => {
        this.#present--;
        this.#leave();
      });
    }
    // Whoever comes now waits, without our being told of it all the time.
    this.#watching?.[Symbol.dispose]();
    this.#watching = undefined;
  }

  /** One has left, or the door is to be closed. */
  #leave(): void {
    if (this.#closing === undefined) {
      this.#listen();
      return;
    }
    this.#letIn();
    if (this.#present > 0) return;
    this.#watching?.[Symbol.dispose]();
    this.#watching = undefined;
    this.#door[Symbol.dispose]();
    this.#closing.resolve();
  }
}

/** A connection that was given up while it waited is none; without descriptors left it has to wait. */
function nextAt(listener: Fd): Fd | undefined {
  if (listener.closed) return undefined;
  try {
    return accept(listener, { nonblocking: true });
  } catch (error) {
    if (SysError.is(error, 'ECONNABORTED', 'EMFILE', 'ENFILE', 'ENOMEM')) return undefined;
    throw error;
  }
}
