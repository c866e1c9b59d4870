/** `node:timers/promises`, as much of it as the program uses. */
import { AbortError, type AbortSignal } from './abort.ts';
import { clearTimer, setTimer } from './timers.ts';

/** Waits; gives up with an `AbortError` when the signal says so. */
export function setTimeout<T>(
  milliseconds: number,
  value?: T,
  { signal, ref = true }: { readonly signal?: AbortSignal | undefined; readonly ref?: boolean } = {},
): Promise<T | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
  if (signal?.aborted === true) {
    reject(new AbortError(signal.reason));
    return promise;
  }
  const timer = setTimer(() => {
    signal?.removeEventListener('abort', abort);
    resolve(value);
  }, milliseconds);
  const abort = () => {
    clearTimer(timer);
    reject(new AbortError(signal?.reason));
  };
  timer.held = ref;
  signal?.addEventListener('abort', abort, { once: true });
  return promise;
}
