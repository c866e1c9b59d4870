/** `AbortController` and `AbortSignal`. */
import { setTimer } from './timers.ts';

/** What waiting is given up with. */
export class AbortError extends Error {
  override readonly name: string = 'AbortError';

  constructor(cause: unknown, message = 'The operation was aborted') {
    super(message, { cause });
  }
}

class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

type Listener = () => void;

export class AbortSignal {
  readonly #listeners = new Map<Listener, boolean>();
  aborted = false;
  reason: unknown;

  static abort(reason: unknown = new AbortError(undefined, 'This operation was aborted')): AbortSignal {
    const signal = new AbortSignal();
    trigger(signal, reason);
    return signal;
  }

  /** Does not keep the process alive. */
  static timeout(milliseconds: number): AbortSignal {
    const signal = new AbortSignal();
    const expire = () => trigger(signal, new TimeoutError('The operation was aborted due to timeout'));
    setTimer(expire, milliseconds).unref();
    return signal;
  }

  static any(signals: readonly AbortSignal[]): AbortSignal {
    const aborted = signals.find((each) => each.aborted);
    if (aborted !== undefined) return AbortSignal.abort(aborted.reason);
    const signal = new AbortSignal();
    for (const each of signals) {
      each.addEventListener('abort', () => trigger(signal, each.reason), { once: true });
    }
    return signal;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_name: 'abort', listener: Listener, { once = false } = {}): void {
    this.#listeners.set(listener, once);
  }

  removeEventListener(_name: 'abort', listener: Listener): void {
    this.#listeners.delete(listener);
  }

  /** Tells who listens. */
  tell(): void {
    for (const [listener, once] of [...this.#listeners]) {
      if (once) this.#listeners.delete(listener);
      listener();
    }
  }
}

export class AbortController {
  readonly signal = new AbortSignal();

  abort(reason: unknown = new AbortError(undefined, 'This operation was aborted')): void {
    trigger(this.signal, reason);
  }
}

function trigger(signal: AbortSignal, reason: unknown): void {
  if (signal.aborted) return;
  signal.aborted = true;
  signal.reason = reason;
  signal.tell();
}
