/** Single changes, for whoever needs no transaction. */
import type { CallOptions, LeaseId, Revision, Store } from './store.ts';

/** On what condition a single change is made. */
export interface SwapOptions extends CallOptions {
  /** The commit that last wrote the key, 0 for none; without it the change is made in any case. */
  readonly at?: Revision;
}

/** How a value is put. */
export interface PutOptions extends SwapOptions {
  /** The lease that the key goes away with. */
  readonly lease?: LeaseId;
}

/**
 * Puts a value under a key.
 *
 * @returns the commit's revision, with which the next swap can be made
 * @throws {StoreError} STORE_CONFLICT when the key was not last written `at` that commit
 * @example
 * const at = await put(store, '/heddle/x', 'one', { at: 0 }); // only if it is not there
 * await put(store, '/heddle/x', 'two', { at });               // only if nobody wrote it since
 */
export function put(store: Store, key: string, value: string, options: PutOptions = {}): Promise<Revision> {
  const { lease, at } = options;
  return store.commit(
    {
      conditions: conditionsOn(key, at),
      changes: [{ put: key, value, ...(lease !== undefined && { lease }) }],
    },
    options,
  );
}

/**
 * Deletes a key; one that is not there is deleted already.
 *
 * @throws {StoreError} STORE_CONFLICT when the key was not last written `at` that commit
 */
export function remove(store: Store, key: string, options: SwapOptions = {}): Promise<Revision> {
  return store.commit({ conditions: conditionsOn(key, options.at), changes: [{ delete: key }] }, options);
}

function conditionsOn(key: string, at: Revision | undefined) {
  return at === undefined ? [] : [{ key, revision: at }];
}
