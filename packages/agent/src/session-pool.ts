/**
 * Kernel sessions that stay open from one call to the next. Each is one call's at a time, so that no call queues behind
 * another one's slow request.
 */
import type { KernelSession } from '@heddle/netlink';

/** See the file's comment. */
export class SessionPool implements Disposable {
  readonly #open: () => KernelSession;
  readonly #most: number;
  readonly #idle: KernelSession[] = [];
  #closed = false;

  /** @param most how many are kept while nobody uses them */
  constructor(open: () => KernelSession, most: number) {
    this.#open = open;
    this.#most = most;
  }

  /** A session for one call, which gives it back by disposing of it. */
  take(): KernelSession {
    const session = this.#idle.pop() ?? this.#open();
    let taken = true;
    // A view of the session: all that it does, but its end.
    return Object.create(session, {
      [Symbol.dispose]: {
        value: () => {
          if (taken) this.#giveBack(session);
          taken = false;
        },
      },
    }) as KernelSession;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    for (const session of this.#idle.splice(0)) session[Symbol.dispose]();
  }

  #giveBack(session: KernelSession): void {
    if (this.#closed || this.#idle.length >= this.#most) session[Symbol.dispose]();
    else this.#idle.push(session);
  }
}
