/** Rings when the store's file was written to, by whatever process. */
import { type FSWatcher, watch } from 'node:fs';

/** How long a change can go unnoticed where the kernel does not tell of writes, and leases unended; milliseconds. */
const AT_LEAST_EVERY = 1000;

/** See the file's comment. */
export class FileBell implements Disposable {
  readonly #listeners = new Set<() => void>();
  readonly #path: string;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param path the file that every commit is appended to */
  constructor(path: string) {
    this.#path = path;
  }

  /** Calls back at every ring. @returns what ends it */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  ring(): void {
    for (const listener of this.#listeners) listener();
  }

  [Symbol.dispose](): void {
    this.#listeners.clear();
    this.#stop();
  }

  #start(): void {
    this.#timer = setInterval(() => this.ring(), AT_LEAST_EVERY);
    try {
      this.#watcher = watch(this.#path, () => this.ring());
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      // No more watches to be had, or no such file yet: the timer is enough, only slower.
    }
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
