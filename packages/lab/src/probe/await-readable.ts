import { type Fd, watch } from '@heddle/sys';

/**
 * Waits until something can be taken from a socket.
 *
 * @param take gives `undefined` for what does not count; what it throws is thrown
 * @param options.again called every now and then meanwhile, to ask once more
 * @returns `undefined` when nothing came in time, in milliseconds
 */
export function awaitReadable<T>(
  fd: Fd,
  take: () => T | undefined,
  { timeout, again }: { readonly timeout: number; readonly again?: () => void },
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(deadline);
      clearInterval(repeat);
      watching[Symbol.dispose]();
      settle();
    };
    const trying = (work: () => void) => () => {
      try {
        work();
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const watching = watch(
      fd,
      trying(() => {
        const taken = take();
        if (taken !== undefined) finish(() => resolve(taken));
      }),
    );
    const deadline = setTimeout(() => finish(() => resolve(undefined)), timeout);
    const repeat = again && setInterval(trying(again), AGAIN);
  });
}

/** Milliseconds. */
const AGAIN = 300;
