/** Work on one thing in the order in which it was asked for, and on different things at once. */
export class InTurn {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does the work when all that was asked for before about the same thing is done. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const ended = result.catch(() => {});
    this.#last.set(key, ended);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    }
  }
}
