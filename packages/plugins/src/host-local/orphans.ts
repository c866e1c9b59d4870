/** Reservations that seem to be nobody's any more, to explain why a pool is full. */
import { readdirSync } from 'node:fs';
import type { Reservation } from '@heddle/ipam';

/** Where CNI runtimes remember their attachments unless told otherwise (libcni's CacheDir). */
export const RESULT_CACHE = '/var/lib/cni';

/**
 * Counts the reservations whose attachment is not in a runtime's result cache.
 *
 * @param cacheDir the cache's directory; its `results` are looked at
 * @returns `undefined` when the cache cannot be read, for then nothing is known
 */
export function countOrphans(
  network: string,
  reservations: readonly Reservation[],
  cacheDir: string,
): number | undefined {
  const results = namesIn(`${cacheDir}/results`);
  if (results === undefined) return undefined;
  const isCached = ({ owner }: Reservation) => {
    if (owner === undefined) return false;
    const prefix = `${network}-${owner.containerID}-`;
    if (owner.ifName !== undefined) return results.has(`${prefix}${owner.ifName}`);
    return [...results].some((name) => name.startsWith(prefix));
  };
  return reservations.filter((reservation) => !isCached(reservation)).length;
}

function namesIn(directory: string): ReadonlySet<string> | undefined {
  try {
    return new Set(readdirSync(directory));
  } catch (error) {
    // The last DEL, or the node's start, may have left no directory: no attachment is known then.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set();
    // It only serves to explain something: that it cannot be read must not hide what is to be explained.
    return undefined;
  }
}
