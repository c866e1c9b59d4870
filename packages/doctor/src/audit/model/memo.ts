/** What was worked out once and is asked for by many rules; lives as long as the document that it is of. */
export class Memo {
  readonly #results = new Map<unknown, WeakMap<object, unknown>>();

  /**
   * The result for `key`, worked out the first time.
   *
   * @param compute a function of the module, not a closure: it says which result is meant
   */
  once<K extends object, V>(key: K, compute: (key: K) => V): V {
    const results = this.#results.get(compute) ?? new WeakMap<object, unknown>();
    this.#results.set(compute, results);
    if (results.has(key)) return results.get(key) as V;
    const result = compute(key);
    results.set(key, result);
    return result;
  }
}
