/** One at a time in a container: whoever looks at its tables and then changes them must not be disturbed. */
import { flockAsync, type NetnsHandle, O, openFile } from '@heddle/sys';

/**
 * Runs something while nobody else holds the lock of this network namespace. It is the reference's lock, flock(2) on
 * the namespace's own file, so that both wait for each other.
 */
export async function withNetnsLock<T>(netns: NetnsHandle, run: () => Promise<T>): Promise<T> {
  // The lock belongs to the open file, so it takes one of its own.
  using file = openFile(`/proc/self/fd/${netns.number}`, O.RDONLY);
  await flockAsync(file, 'exclusive');
  return await run();
}
