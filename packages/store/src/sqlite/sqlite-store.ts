/** A store in one SQLite file, for all processes of one machine. */
import { isAbsolute } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { CallOptions, Revision, Store, WatchBatch } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { FileBell } from './file-bell.ts';
import { type MachineClock, machineClock } from './machine-clock.ts';
import { openFile } from './open-file.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { fromSqlite, isBusy } from './sqlite-error.ts';

/** Where the file is and how it is used. */
export interface SqliteOptions {
  /** An absolute path on a local file system; the file, and the directory that it is in, are made where there are none. */
  readonly path: string;
  /** How many commits watches can go back; 1,000 by default. */
  readonly history?: number;
  /** How long a call waits for other writers, in milliseconds; 10,000 by default. */
  readonly patience?: number;
  /** What leases run on; tests have their own. */
  readonly clock?: MachineClock;
}

/**
 * Opens the store in a file. Any number of processes can do so at once; each sees the changes of the others.
 *
 * @throws {StoreError} STORE_UNAVAILABLE, STORE_CORRUPT, STORE_UNAUTHORISED
 * @example
 * await using store = await openSqlite({ path: '/var/lib/heddle/store.db' });
 */
export async function openSqlite(options: SqliteOptions & CallOptions): Promise<Store> {
  const { path, history = 1000, patience = 10_000, clock = machineClock(), signal } = options;
  if (!isAbsolute(path) || path.includes('\0')) {
    throw new StoreError(
      'STORE_REQUEST_INVALID',
      `open the store ${JSON.stringify(path)}: not an absolute path`,
    );
  }
  if (!Number.isSafeInteger(history) || history < 1) {
    throw new StoreError(
      'STORE_REQUEST_INVALID',
      `the number of commits to keep is at least 1, not ${history}`,
    );
  }
  const turns = new Turns(path, patience);
  const file = await turns.take('open the store', () => openFile(path), signal);
  return new SqliteStore(new SqliteDatabase(file, clock, history), turns, new FileBell(`${path}-wal`));
}

class SqliteStore implements Store {
  readonly #database: SqliteDatabase;
  readonly #turns: Turns;
  readonly #bell: FileBell;
  readonly #closing = new AbortController();

  constructor(database: SqliteDatabase, turns: Turns, bell: FileBell) {
    this.#database = database;
    this.#turns = turns;
    this.#bell = bell;
  }

  get(key: string, options?: CallOptions) {
    return this.#call('get', () => this.#database.get(key), options);
  }

  list(prefix: string, options?: CallOptions) {
    return this.#call('list', () => this.#database.list(prefix), options);
  }

  async commit(transaction: Parameters<Store['commit']>[0], options?: CallOptions) {
    return this.#change('commit', () => this.#database.commit(transaction), options);
  }

  grantLease(seconds: number, options?: CallOptions) {
    return this.#call('grant a lease', () => this.#database.grantLease(seconds), options);
  }

  keepAlive(lease: string, options?: CallOptions) {
    return this.#call('keep a lease alive', () => this.#database.keepAlive(lease), options);
  }

  revokeLease(lease: string, options?: CallOptions) {
    return this.#change('revoke a lease', () => this.#database.revokeLease(lease), options);
  }

  async *watch(
    prefix: string,
    after: Revision,
    { signal }: CallOptions = {},
  ): AsyncGenerator<WatchBatch, never> {
    const ends = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    let known = after;
    let news = Promise.withResolvers<void>();
    const ring = () => news.resolve();
    const stop = this.#bell.listen(ring);
    ends.addEventListener('abort', ring);
    try {
      for (;;) {
        ends.throwIfAborted();
        news = Promise.withResolvers();
        const read = () => this.#database.changes(prefix, known);
        const { batches, upTo } = await this.#call('watch', read, { signal: ends });
        yield* batches;
        known = upTo;
        if (batches.length === 0) await news.promise;
      }
    } finally {
      ends.removeEventListener('abort', ring);
      stop();
    }
  }

  async [Symbol.asyncDispose]() {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new StoreError('STORE_UNAVAILABLE', 'the store is closed'));
    this.#bell[Symbol.dispose]();
    this.#database.close();
  }

  async #change<T>(what: string, run: () => T, options?: CallOptions): Promise<T> {
    const result = await this.#call(what, run, options);
    this.#bell.ring();
    return result;
  }

  #call<T>(what: string, run: () => T, { signal }: CallOptions = {}): Promise<T> {
    const unlessClosed = () => {
      this.#closing.signal.throwIfAborted();
      return run();
    };
    return this.#turns.take(what, unlessClosed, signal);
  }
}

/** Attempts until the file's lock is had. SQLite's own waiting would stop the whole process. */
class Turns {
  readonly #path: string;
  readonly #patience: number;

  constructor(path: string, patience: number) {
    this.#path = path;
    this.#patience = patience;
  }

  async take<T>(what: string, run: () => T, signal?: AbortSignal): Promise<T> {
    const begin = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      try {
        return run();
      } catch (error) {
        if (!isBusy(error) || performance.now() - begin >= this.#patience) {
          throw fromSqlite(this.#path, what, error);
        }
      }
      // Aborting is told by the next turn of the loop, with the signal's own reason.
      await pause(1 + 9 * Math.random(), undefined, signal === undefined ? {} : { signal }).catch(() => {});
    }
  }
}
