/**
 * Kernel sessions that stay open from one call to the next. Each is one call's at a time, so that no call queues behind
 * another one's slow request. What they have read of the ruleset, they share.
 */
import { type ExchangeObserver, type KernelSession, NftMemory, type SessionOptions } from '@heddle/netlink';

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
    return kept.session;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    for (const { session } of this.#idle.splice(0)) session[Symbol.dispose]();
  }

  #new(): Kept {
    const kept: Partial<Kept> = {};
    kept.session = this.#open({
      // What a call has begun may end after it: nobody's.
      onExchange: () => kept.observer?.() ?? NOBODY,
      ruleset: this.#ruleset,
      keep: () => this.#takeBack(kept as Kept),
    });
    return kept as Kept;
  }

  #takeBack(kept: Kept): boolean {
    if (this.#closed || this.#idle.includes(kept)) return !this.#closed;
    kept.observer = undefined;
    if (this.#idle.length >= this.#most) return false;
    this.#idle.push(kept);
    return true;
  }
}

/** Opens a session of the pool. */
export type OpenPooled = (
  pooled: Required<Pick<SessionOptions, 'onExchange' | 'ruleset' | 'keep'>>,
) => KernelSession;

interface Kept {
  session: KernelSession;
  /** The call's that has it now. */
  observer: ExchangeObserver | undefined;
}

const NOBODY = (): void => {};
