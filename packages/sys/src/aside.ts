/** Requests that are sent, and sockets that are closed, by a process of their own, which may outlive the caller. */
import { native } from './addon.ts';
import { Fd } from './fd.ts';

/** A process that sends one request, and ends when the kernel is through with it. */
export interface Aside extends Disposable {
  /** Waits until there is something to receive on the socket. False: nothing will come any more. */
  awaitAnswer(): boolean;
}

/**
 * Has a process send a request, for a caller that itself is about to end: the kernel can be busy for tens of milliseconds
 * with what nobody has to wait for. That process has none of the caller's descriptors but the socket. It takes some
 * memory that is given back when the caller has ended.
 *
 * @throws SysError when no process can be started; nothing is sent then
 * @example
 * using aside = sendAside(route, request);
 * while (aside.awaitAnswer()) take(recv(route, undefined, MSG.DONTWAIT));
 */
export function sendAside(fd: Fd, request: Uint8Array): Aside {
  const process = new Fd(native().sendAside(fd.alone('send'), request));
  return {
    awaitAnswer: () => native().awaitAside(fd.number, process.number),
    [Symbol.dispose]: () => process.close(),
  };
}

/**
 * Closes a socket for a caller that is about to end: what the kernel does at its close, which can take milliseconds, it
 * does to a process that waits for the caller's end. Where none can be started, the socket is closed as ever.
 */
export function closeAside(fd: Fd): void {
  native().holdAside(fd.alone('close'));
  fd.close();
}
