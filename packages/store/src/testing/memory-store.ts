/** A store in memory: for tests, and for trying things out. */
import type { CallOptions, Revision, Store, WatchBatch } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { MemoryDatabase, type MemoryOptions } from './memory-database.ts';

/** A call of a store, by its name. */
export type StoreCall = Exclude<keyof Store, typeof Symbol.asyncDispose>;

/** What every call goes through on its way to the state, and its answer on the way back. */
export type Gate = <T>(call: StoreCall, run: () => T) => Promise<T>;

/**
 * A store on a state that others may have opened too.
 *
 * @example
 * const database = new MemoryDatabase();
 * await using a = openMemory(database);
 * await using b = openMemory(database); // as a second process would
 */
export function openMemory(database: MemoryDatabase, gate: Gate = atOnce): Store {
  const closing = new AbortController();
  const call = <T>(name: StoreCall, run: () => T, { signal }: CallOptions = {}): Promise<T> => {
    if (closing.signal.aborted) return Promise.reject(closing.signal.reason);
    if (signal === undefined) return gate(name, run);
    if (signal.aborted) return Promise.reject(signal.reason);
    return abortable(gate(name, run), signal);
  };
  return {
    get: (key, options) => call('get', () => database.get(key), options),
    list: (prefix, options) => call('list', () => database.list(prefix), options),
    commit: (transaction, options) => call('commit', () => database.commit(transaction), options),
    grantLease: (seconds, options) => call('grantLease', () => database.grantLease(seconds), options),
    keepAlive: (lease, options) => call('keepAlive', () => database.keepAlive(lease), options),
    revokeLease: (lease, options) => call('revokeLease', () => database.revokeLease(lease), options),
    watch: (prefix, after, { signal } = {}) => {
      const ends = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
      return watchMemory(database, gate, prefix, after, ends);
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new StoreError('STORE_UNAVAILABLE', 'the store is closed'));
    },
  };
}

/** A store in memory that nobody else has. */
export function memoryStore(options?: MemoryOptions): Store {
  return openMemory(new MemoryDatabase(options));
}

async function* watchMemory(
  database: MemoryDatabase,
  gate: Gate,
  prefix: string,
  after: Revision,
  ends: AbortSignal,
): AsyncGenerator<WatchBatch, never> {
  let known = after;
  for (;;) {
    ends.throwIfAborted();
    const news = Promise.withResolvers<void>();
    const stop = database.onCommit(news.resolve);
    try {
      const batches = await abortable(
        gate('watch', () => database.changes(prefix, known)),
        ends,
      );
      for (const batch of batches) {
        known = batch.revision;
        yield batch;
      }
      if (batches.length === 0) await abortable(news.promise, ends);
    } finally {
      stop();
    }
  }
}

/** A promise, or the signal's reason if that comes first. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

const atOnce: Gate = async (_call, run) => {
  // So that a caller who forgets to wait is found out.
  await undefined;
  return run();
};
