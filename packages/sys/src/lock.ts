/** flock(2): locks of a whole file, between processes. They belong to the open file and end with it. */
import { native } from './addon.ts';
import type { Fd } from './fd.ts';

/** What to do with the lock. */
export type LockMode = 'shared' | 'exclusive' | 'unlock';

/**
 * Takes, changes or gives back the lock, and blocks the calling thread meanwhile.
 *
 * @returns false when `nonblocking` was asked for and somebody else has the lock.
 * @example flock(file, 'exclusive');
 */
export function flock(fd: Fd, mode: LockMode, options: { readonly nonblocking?: boolean } = {}): boolean {
  return native().flock(fd.number, operations[mode] | (options.nonblocking === true ? LOCK_NB : 0));
}

/**
 * Takes, changes or gives back the lock without blocking JavaScript. A wait has a thread of its own.
 *
 * @throws the signal's reason when that is aborted first; the lock is then not held.
 */
export async function flockAsync(
  fd: Fd,
  mode: LockMode,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  signal?.throwIfAborted();
  if (flock(fd, mode, { nonblocking: true })) return;
  using _hold = fd.hold();
  const number = fd.number;
  const { promise, resolve } = Promise.withResolvers<Error | undefined>();
  const id = native().flockWait(number, operations[mode], resolve);
  let cancelled = false;
  const cancel = () => {
    native().flockCancel(id);
    // Also when the lock came first: a caller that is told of the abort will not give it back.
    native().flock(number, operations.unlock);
    cancelled = true;
  };
  signal?.addEventListener('abort', cancel, { once: true });
  const error = await promise;
  signal?.removeEventListener('abort', cancel);
  if (cancelled) throw signal?.reason;
  if (error !== undefined) throw error;
}

/** sys/file.h */
const LOCK_NB = 4;
const operations = { shared: 1, exclusive: 2, unlock: 8 } as const;
