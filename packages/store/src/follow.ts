/** What is below a prefix, and all that becomes of it, whatever happens to the store meanwhile. */
import type { Entry, Revision, Store, WatchEvent } from './store.ts';
import { StoreError } from './store-error.ts';

/** What {@link follow} tells. */
export type Followed =
  /** Everything that is there: at the beginning, and whenever changes were missed. */
  | { readonly kind: 'state'; readonly entries: readonly Entry[]; readonly revision: Revision }
  /** What one commit changed since. */
  | { readonly kind: 'changes'; readonly events: readonly WatchEvent[]; readonly revision: Revision };

/** How to follow. */
export interface FollowOptions {
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Waits before the next attempt; the attempts since something last worked are counted from 1. */
  readonly pause: (attempt: number, signal: AbortSignal) => Promise<void>;
  /** Hears why there is a pause. */
  readonly troubled?: (error: StoreError) => void;
}

/**
 * Tells the state below a prefix, then every change of it. A store that is away is waited for, and the watch goes on
 * where it stopped; where the changes in between are gone (compacted), the state is told anew.
 *
 * @throws the signal's reason when it aborts; {@link StoreError} for what waiting does not mend
 * @example
 * for await (const news of follow(store, '/heddle/nodes/', { signal, pause })) {
 *   if (news.kind === 'state') replaceAll(news.entries);
 *   else apply(news.events);
 * }
 */
export async function* follow(
  store: Store,
  prefix: string,
  options: FollowOptions,
): AsyncGenerator<Followed, never> {
  const { signal, pause, troubled } = options;
  let known: Revision | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      if (known === undefined) {
        const { entries, revision } = await store.list(prefix, { signal });
        known = revision;
        attempt = 0;
        yield { kind: 'state', entries, revision };
      }
      for await (const { events, revision } of store.watch(prefix, known, { signal })) {
        known = revision;
        attempt = 0;
        yield { kind: 'changes', events, revision };
      }
    } catch (error) {
      signal.throwIfAborted();
      if (StoreError.is(error, 'STORE_COMPACTED')) {
        known = undefined;
      } else if (StoreError.is(error, 'STORE_UNAVAILABLE')) {
        troubled?.(error);
        await pause(Math.max(attempt, 1), signal);
      } else {
        throw error;
      }
    }
  }
}
