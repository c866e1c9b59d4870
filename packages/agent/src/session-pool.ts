/**
 * Kernel sessions that stay open from one call to the next. Each is one call's at a time, so that no call queues behind
 * another one's slow request. What they have read of the ruleset, they share.
 */
import { type ExchangeObserver, type KernelSession, NftMemory } from '@heddle/netlink';

/** See the file's comment. */
export class SessionPool implements Disposable {
  readonly #open: OpenPooled;
  readonly #ruleset = new NftMemory();
  readonly #most: number;
  readonly #idle: Kept[] = [];
  #closed = false;

  /** @param most how many are kept while nobody uses them */
  constructor(open: OpenPooled, most: number) {
    this.#open = open;
    this.#most = most;
  }

  /** A session for one call, which gives it back by disposing of it. */
  take(onExchange: ExchangeObserver): KernelSession {
    const kept = this.#idle.pop() ?? this.#new();
    kept.observer = onExchange;
    // What was certain for another call may have been changed before this one began.
    this.#ruleset.doubt();
    let taken = true;
    // A view of the session: all that it does, but its end.
    return Object.create(kept.session, {
      [Symbol.dispose]: {
        value: () => {
          if (taken) this.#giveBack(kept);
          taken = false;
        },
      },
    }) as KernelSession;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    for (const { session } of this.#idle.splice(0)) session[Symbol.dispose]();
  }

  #new(): Kept {
    const kept: Partial<Kept> = {};
    // What a call has begun may end after it: nobody's.
    kept.session = this.#open(() => kept.observer?.() ?? (() => {}), this.#ruleset);
    return kept as Kept;
  }

  #giveBack(kept: Kept): void {
    kept.observer = undefined;
    if (this.#closed || this.#idle.length >= this.#most) kept.session[Symbol.dispose]();
    else this.#idle.push(kept);
  }
}

/** Opens a session of the pool. */
export type OpenPooled = (onExchange: ExchangeObserver, ruleset: NftMemory) => KernelSession;

interface Kept {
  session: KernelSession;
  /** The call's that has it now. */
  observer: ExchangeObserver | undefined;
}
