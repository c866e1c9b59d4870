import { native } from './addon.ts';
import type { Fd } from './fd.ts';

/**
 * Has a function called each time a descriptor can be read, accepted from, or is at its end. It is called again
 * as long as that holds, never twice at once. Ends with the result's disposal, or with the descriptor's close.
 *
 * The event loop stays alive meanwhile, unless `unref` is given.
 *
 * @throws SysError EPERM for a descriptor that is always ready, such as a regular file's.
 * @example using watching = watch(listener, () => serve(accept(listener)));
 */
export function watch(
  fd: Fd,
  onReadable: () => void,
  options: { readonly unref?: boolean } = {},
): Disposable {
  const id = native().watch(fd.number, () => onReadable(), options.unref !== true);
  const end = () => native().unwatch(id);
  const forget = fd.onClose(end);
  return {
    [Symbol.dispose]: () => {
      forget();
      end();
    },
  };
}
