/**
 * A netlink request with its whole answer, as raw datagrams. The kernel has queued every reply, or the first part
 * of a dump, when send() returns, and queues the next part inside each recv(): receiving until EAGAIN is complete.
 */
import { native } from './addon.ts';
import type { Fd } from './fd.ts';

/**
 * Sends a request and collects the answer on the calling thread.
 *
 * @throws SysError ENOBUFS when the kernel dropped replies (the socket is then empty, ready for another try);
 *   EBUSY while a {@link transact} on the same socket is under way.
 * @example const [answer] = transactSync(route, getLoopback);
 */
export function transactSync(fd: Fd, request: Uint8Array): Uint8Array[] {
  return native().transactSync(fd.alone('transact'), request);
}

/**
 * The same on a thread of this package: the kernel can be busy for tens of milliseconds with one request.
 * Requests on one socket are carried out in the order of the calls.
 */
export function transact(fd: Fd, request: Uint8Array): Promise<Uint8Array[]> {
  // The caller may reuse its buffer at once; the request may still have to wait for its turn.
  const copy = request.slice();
  return fd.inTurn(
    (number) =>
      new Promise((resolve, reject) => {
        native().transact(number, copy, (error, datagrams) => {
          if (error === undefined) resolve(datagrams);
          else reject(error);
        });
      }),
  );
}
