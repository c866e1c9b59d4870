import { openStore, type StoreConfig } from '@heddle/agent';
import type { Store } from '@heddle/store';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';

/**
 * Opens the cluster's store, and makes sure that it answers.
 *
 * @throws {CommandError} when it does not in ten seconds
 * @throws {StoreError} with what it says
 */
export async function reachStore(config: StoreConfig): Promise<Store> {
  const store = await openStore(config);
  const signal = AbortSignal.timeout(PATIENCE);
  try {
    await store.get(PROBE, { signal });
    return store;
  } catch (error) {
    await store[Symbol.asyncDispose]();
    if (!signal.aborted) throw error;
    throw new CommandError(EXIT.FAILED, `the store ${config.store} does not answer`, {
      cause: error,
      hint: 'it must be reachable from this node, and serve under these names with these certificates',
    });
  }
}

const PATIENCE = 10_000;
/** Any key will do. */
const PROBE = '/heddle/nodes/';
