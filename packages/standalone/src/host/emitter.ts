/** Events by name. */
// biome-ignore lint/suspicious/noExplicitAny: each event has arguments of its own
type Listener = (...values: any[]) => void;

export class Emitter {
  readonly #listeners = new Map<string, { listener: Listener; once: boolean }[]>();

  on(name: string, listener: Listener): this {
    return this.#add(name, listener, false);
  }

  once(name: string, listener: Listener): this {
    return this.#add(name, listener, true);
  }

  off(name: string, listener: Listener): this {
    const left = (this.#listeners.get(name) ?? []).filter((each) => each.listener !== listener);
    this.#listeners.set(name, left);
    return this;
  }

  /** Calls who listens. An error that nobody listens for is thrown. */
  emit(name: string, ...values: readonly unknown[]): void {
    const listeners = this.#listeners.get(name) ?? [];
    if (name === 'error' && listeners.length === 0) throw values[0];
    for (const { listener, once } of [...listeners]) {
      if (once) this.off(name, listener);
      listener(...values);
    }
  }

  #add(name: string, listener: Listener, once: boolean): this {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), { listener, once }]);
    return this;
  }
}
