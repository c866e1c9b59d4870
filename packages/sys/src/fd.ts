import { native } from './addon.ts';
import { SysError } from './sys-error.ts';

/**
 * An open file descriptor and its only owner. Every descriptor of this package is close-on-exec.
 *
 * Invariant: the number is given back to the kernel exactly once, and never while a thread still works on it,
 * so that no operation can hit a descriptor that was opened later under the same number.
 *
 * @example
 * using file = openFile('/etc/hostname', O.RDONLY);
 * read(file, 4096);
 */
export class Fd implements Disposable {
  readonly #number: number;
  /** Most descriptors have nobody who wants to hear of their end. */
  #closing: Set<() => void> | undefined;
  #closed = false;
  #holds = 0;
  #turn: Promise<unknown> | undefined;

  /** Takes over a descriptor, which nobody else may close from now on. */
  constructor(number: number) {
    this.#number = number;
  }

  /**
   * The descriptor.
   *
   * @throws SysError EBADF after {@link close}.
   */
  get number(): number {
    if (this.#closed) {
      throw new SysError({
        syscall: 'fd',
        errnum: EBADF,
        message: `file descriptor ${this.#number}: use after close`,
      });
    }
    return this.#number;
  }

  /** Whether {@link close} was called. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Closes; a second call does nothing. The kernel sees it when the threaded operations under way have ended. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#closing !== undefined) {
      for (const callback of this.#closing) callback();
      this.#closing = undefined;
    }
    if (this.#holds === 0) native().close(this.#number);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * Keeps the number valid past a {@link close}, for an operation on another thread.
   *
   * @internal
   */
  hold(): Disposable {
    void this.number;
    this.#holds += 1;
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (!held) return;
        held = false;
        this.#holds -= 1;
        if (this.#closed && this.#holds === 0) native().close(this.#number);
      },
    };
  }

  /**
   * Runs threaded operations on this descriptor one after the other: answers on one socket must not mix.
   *
   * @internal
   */
  async inTurn<T>(operate: (number: number) => Promise<T>): Promise<T> {
    using _hold = this.hold();
    const before = this.#turn;
    const mine = before === undefined ? operate(this.#number) : before.then(() => operate(this.#number));
    const settled = mine.catch(() => undefined);
    this.#turn = settled;
    try {
      return await mine;
    } finally {
      if (this.#turn === settled) this.#turn = undefined;
    }
  }

  /** Whether a threaded operation that takes the descriptor for itself, such as `transact`, is under way. */
  get isTaken(): boolean {
    return this.#turn !== undefined;
  }

  /**
   * The number, for an operation that must not come between those that run in turn.
   *
   * @internal
   * @throws SysError EBUSY while one runs.
   */
  alone(syscall: string): number {
    const { number } = this;
    if (this.#turn === undefined) return number;
    throw new SysError({ syscall, errnum: EBUSY });
  }

  /**
   * Has a callback called at {@link close}; the result takes it back.
   *
   * @internal
   */
  onClose(callback: () => void): () => void {
    void this.number;
    this.#closing ??= new Set();
    this.#closing.add(callback);
    return () => this.#closing?.delete(callback);
  }
}

const EBADF = 9;
const EBUSY = 16;
