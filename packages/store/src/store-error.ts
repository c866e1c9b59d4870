import { CodedError, type HeddleErrorOptions } from '@heddle/errors';

/** Why a store did not do what it was asked. */
export type StoreErrorCode =
  /** It cannot be reached, is too busy, or was closed; another attempt may succeed. */
  | 'STORE_UNAVAILABLE'
  /** A condition of a transaction did not hold, so nothing of it was done. */
  | 'STORE_CONFLICT'
  /** The changes that a watch was to begin with are no longer kept. */
  | 'STORE_COMPACTED'
  /** Wrong or missing credentials, or no permission for the key. */
  | 'STORE_UNAUTHORISED'
  /** The lease does not exist, or not any more. */
  | 'STORE_LEASE_GONE'
  /** There is no space left for changes. */
  | 'STORE_FULL'
  /** A request that no store accepts: a malformed key, a key twice, too much at once. */
  | 'STORE_REQUEST_INVALID'
  /** What is stored is not what its reader expects. */
  | 'STORE_VALUE_INVALID'
  /** The store itself is damaged, or is something else. */
  | 'STORE_CORRUPT';

/** What more is known of a store's failure. */
export interface StoreFailure extends HeddleErrorOptions {
  /** See {@link StoreError.mayHaveHappened}. */
  readonly mayHaveHappened?: boolean;
  /** See {@link StoreError.keys}. */
  readonly keys?: readonly string[];
}

/**
 * A store did not do what it was asked.
 *
 * @example
 * try { await put(store, key, value, { at: 0 }) } catch (error) {
 *   if (StoreError.is(error, 'STORE_CONFLICT')) … // somebody was faster
 * }
 */
export class StoreError extends CodedError<StoreErrorCode> {
  /** Whether the change may have been made all the same: the answer was lost, not the request. */
  readonly mayHaveHappened: boolean;
  /** The keys that it is about; of a conflict, those that are not as expected. */
  readonly keys: readonly string[];

  constructor(code: StoreErrorCode, message: string, options: StoreFailure = {}) {
    super(code, message, options);
    this.mayHaveHappened = options.mayHaveHappened ?? false;
    this.keys = options.keys ?? [];
  }
}

/** The error for conditions that do not hold. */
export function conflict(keys: readonly string[]): StoreError {
  return new StoreError('STORE_CONFLICT', `${keys.join(', ')}: changed by somebody else meanwhile`, { keys });
}

/** The error for a watch that begins too far back. */
export function compacted(prefix: string, after: number, oldest: number): StoreError {
  return new StoreError(
    'STORE_COMPACTED',
    `watch ${prefix}: the changes after revision ${after} are gone, those after ${oldest} are kept`,
    { keys: [prefix], hint: 'list anew and watch from there' },
  );
}

/** The error for a lease that is not there. */
export function leaseGone(lease: string): StoreError {
  return new StoreError('STORE_LEASE_GONE', `lease ${lease} does not exist, or has expired`);
}
