/** The port: state that several processes or nodes share, as keys with values. */

/**
 * A moment of the store: each commit that changes something has the next one. 0 is before all of them.
 * Stores count in 64 bits; a number is exact for the first nine quadrillion commits.
 */
export type Revision = number;

/** The name of a lease, as the store gave it. */
export type LeaseId = string;

/** One key and what is stored under it. */
export interface Entry {
  readonly key: string;
  readonly value: string;
  /** The commit that made it. */
  readonly created: Revision;
  /** The commit that last wrote it. */
  readonly revision: Revision;
  /** The lease that it goes away with. */
  readonly lease?: LeaseId;
}

/** All entries below a prefix at one moment. */
export interface Listing {
  /** In the order of their keys. */
  readonly entries: readonly Entry[];
  /** The moment; a watch after it misses nothing. */
  readonly revision: Revision;
}

/** What must hold for a transaction: the key was last written by this commit; 0 for a key that is not there. */
export interface Condition {
  readonly key: string;
  readonly revision: Revision;
}

/** One thing that a transaction does. Deleting a key that is not there changes nothing. */
export type Change =
  | { readonly put: string; readonly value: string; readonly lease?: LeaseId }
  | { readonly delete: string };

/** Changes that are made all together, if every condition holds, or not at all. */
export interface Transaction {
  readonly conditions?: readonly Condition[];
  /** At most one for each key. */
  readonly changes: readonly Change[];
}

/** One change as a watch tells it. */
export type WatchEvent =
  | { readonly kind: 'put'; readonly key: string; readonly entry: Entry }
  | { readonly kind: 'delete'; readonly key: string; readonly revision: Revision };

/** What one commit changed below the prefix: never a part of it. */
export interface WatchBatch {
  readonly revision: Revision;
  readonly events: readonly WatchEvent[];
}

/** A promise to come back in time: entries that are bound to it go away when it is not kept. */
export interface Lease {
  readonly id: LeaseId;
  /** How long it lives after it was granted or kept alive; stores may give more than was asked for. */
  readonly seconds: number;
}

/** What every call takes. */
export interface CallOptions {
  /** Give up when it aborts; the call then throws its reason. */
  readonly signal?: AbortSignal;
}

/**
 * State that several processes or nodes share.
 *
 * Everything that was answered is seen by every later call of anybody. Keys are visible ASCII characters, at most
 * 512, and are ordered by them; values are text. Every call may throw {@link StoreError} STORE_UNAVAILABLE,
 * STORE_UNAUTHORISED, STORE_REQUEST_INVALID and STORE_CORRUPT.
 */
export interface Store extends AsyncDisposable {
  /** What is stored under the key; `undefined` for nothing. */
  get(key: string, options?: CallOptions): Promise<Entry | undefined>;
  /** Everything whose key begins with the prefix; with an empty one, everything. */
  list(prefix: string, options?: CallOptions): Promise<Listing>;
  /**
   * Makes all changes, or none.
   *
   * @returns the commit's revision; when nothing was to be changed, the store's present one
   * @throws {StoreError} STORE_CONFLICT with the keys whose condition does not hold; STORE_LEASE_GONE;
   *   STORE_FULL. With `mayHaveHappened` nobody knows whether the changes were made.
   */
  commit(transaction: Transaction, options?: CallOptions): Promise<Revision>;
  /**
   * The commits after a revision that change something below the prefix, in order, each once. It never ends by itself.
   *
   * @param after as `list` or `commit` gave it, or the revision of a batch
   * @throws {StoreError} STORE_COMPACTED when the first of them are not kept any more; any other failure means that
   *   a new watch after the last batch's revision goes on where this one stopped
   */
  watch(prefix: string, after: Revision, options?: CallOptions): AsyncIterable<WatchBatch>;
  /** Makes a lease. */
  grantLease(seconds: number, options?: CallOptions): Promise<Lease>;
  /** Starts the lease's time anew. @throws {StoreError} STORE_LEASE_GONE */
  keepAlive(lease: LeaseId, options?: CallOptions): Promise<Lease>;
  /** Ends the lease and deletes what is bound to it, in one commit. @throws {StoreError} STORE_LEASE_GONE */
  revokeLease(lease: LeaseId, options?: CallOptions): Promise<void>;
}
