/**
 * A way to the kernel, or to something that answers like it.
 *
 * The kernel handles a netlink request inside `sendmsg` and has queued the answer when that returns, so an
 * exchange is complete in itself: there is nothing to wait for and no state between two exchanges.
 */
export interface Transport extends Disposable {
  /**
   * Sends one buffer (one or more messages) and returns every datagram that came back, dumps included.
   * Exchanges never overlap; those asked for at the same time are done in order.
   *
   * @throws {SysError} `ENOBUFS` when the receive buffer overflowed and answers are lost
   */
  exchange(request: Uint8Array): Promise<Uint8Array[]>;
  /** Where exchanges can be made inside the call. */
  readonly immediate?: ImmediateTransport;
  /** After `ENOBUFS`: starts over with an empty queue and room for more. Absent where nothing is queued. */
  recover?(): void;
}

/** Exchanges inside the call. */
export interface ImmediateTransport {
  /** Whether this exchange would be made that way now: it is brief, and none is under way. */
  suits(request: Uint8Array): boolean;
  /**
   * Makes it. The request may be reused afterwards.
   *
   * @throws {SysError} as {@link Transport.exchange}
   */
  exchange(request: Uint8Array): Uint8Array[];
}
