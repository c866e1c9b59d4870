/** The port behind which the reservations of one network are kept. */
import type { Addr } from '@heddle/netaddr';
import type { Owner, Reservation } from './reservation.ts';

/**
 * The reservations of one network.
 *
 * The work of `exclusive` is synchronous on purpose: whoever holds the lock never waits for anything, so it
 * is held for a moment only, and two tasks of one process cannot block each other.
 */
export interface ReservationStore {
  /** All reservations as they are at this moment, without waiting for the lock. Changes nothing. */
  list(): readonly Reservation[];
  /**
   * Runs `work` while nobody else, in this or another process, changes the store. What it throws is thrown
   * after the lock is released.
   */
  exclusive<T>(work: (ledger: Ledger) => T, options?: ExclusiveOptions): Promise<T>;
}

/** How to take the lock. */
export interface ExclusiveOptions {
  /** Give up waiting when it aborts. */
  readonly signal?: AbortSignal;
  /** With `false`, a store that does not exist counts as an empty one and is not made. */
  readonly create?: boolean;
}

/** The store while it is locked; of no use afterwards. */
export interface Ledger {
  /** All reservations, read anew. Those without an owner have been reclaimed. */
  list(): readonly Reservation[];
  /** The same by the text of their addresses, as far as it is known without reading. */
  held(): ReadonlyMap<string, Reservation>;
  /** Those of a container, by whatever interface. */
  ofContainer(containerID: string): readonly Reservation[];
  /** Takes `addr` for `owner`, entirely or not at all; `false` when it is held already. */
  reserve(addr: Addr, owner: Owner): boolean;
  /** Gives an address back; `false` when nobody held it. */
  release(addr: Addr): boolean;
  /** The address that was given out last from the range set at `index`, where the next search begins. */
  lastReserved(index: number): Addr | undefined;
  /** Remembers `addr` as the last. It is a hint: failing to write it is no reason to fail. */
  remember(index: number, addr: Addr): void;
}
