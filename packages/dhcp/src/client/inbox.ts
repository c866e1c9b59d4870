/** What has come in and was not looked at yet. */
import type { Clock } from './ports.ts';

/** A queue of one reader, who may wait at it. */
export class Inbox<T> {
  readonly #items: T[] = [];
  #arrived: (() => void) | undefined;
  #failure: unknown;

  push(item: T): void {
    this.#items.push(item);
    this.#arrived?.();
  }

  /** Nothing more comes in, for this reason: the reader gets what there is, and then the reason. */
  fail(reason: unknown): void {
    this.#failure ??= reason;
    this.#arrived?.();
  }

  /**
   * The next item, or `undefined` when there is none by the deadline.
   *
   * @throws the signal's reason, when it is aborted; the reason why nothing more comes in
   */
  async next(clock: Clock, deadline: number, signal: AbortSignal): Promise<T | undefined> {
    signal.throwIfAborted();
    if (this.#items.length === 0 && this.#failure === undefined) await this.#wait(clock, deadline, signal);
    if (this.#items.length === 0 && this.#failure !== undefined) throw this.#failure;
    return this.#items.shift();
  }

  async #wait(clock: Clock, deadline: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = new AbortController();
    const stop = () => timer.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    this.#arrived = resolve;
    try {
      await Promise.race([promise, clock.sleep(Math.max(0, deadline - clock.now()), timer.signal)]);
    } finally {
      this.#arrived = undefined;
      signal.removeEventListener('abort', stop);
      timer.abort();
    }
  }
}
