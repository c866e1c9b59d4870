/** Giving addresses back, and finding out what someone holds. */

import { ErrorList } from '@heddle/errors';
import type { Addr } from '@heddle/netaddr';
import { isOwnedBy, isSameReservation, type Owner, type Reservation } from './reservation.ts';
import type { Ledger, ReservationStore } from './store.ts';

/**
 * Gives back every address that `owner` holds in this network. An owner that holds none is no error.
 *
 * @returns the addresses that were given back
 * @throws {IpamError} IPAM_STORE, after all have been tried
 */
export async function release(store: ReservationStore, owner: Owner): Promise<readonly Addr[]> {
  return store.exclusive(
    (ledger) => releaseAll(ledger, heldBy(ledger.ofContainer(owner.containerID), owner)),
    { create: false },
  );
}

/**
 * Gives back these reservations, but none that has been released and taken anew since it was listed.
 *
 * @returns the addresses that were given back
 * @throws {IpamError} IPAM_STORE, after all have been tried
 */
export async function releaseStale(
  store: ReservationStore,
  stale: readonly Reservation[],
): Promise<readonly Addr[]> {
  return store.exclusive(
    (ledger) => {
      const now = new Map(ledger.list().map((reservation) => [reservation.addr.toString(), reservation]));
      const unchanged = stale.filter((then) => {
        const present = now.get(then.addr.toString());
        return present !== undefined && isSameReservation(present, then);
      });
      return releaseAll(ledger, unchanged);
    },
    { create: false },
  );
}

/**
 * The reservations of one owner. Those that name the interface count; only when there is none, those in the
 * oldest format, which do not.
 */
export function heldBy(reservations: readonly Reservation[], owner: Owner): readonly Reservation[] {
  const own = reservations.filter((reservation) => isOwnedBy(owner, reservation));
  const exact = own.filter((reservation) => reservation.owner?.ifName !== undefined);
  return exact.length > 0 ? exact : own;
}

function releaseAll(ledger: Ledger, reservations: readonly Reservation[]): readonly Addr[] {
  const released: Addr[] = [];
  const problems: unknown[] = [];
  for (const { addr } of reservations) {
    try {
      if (ledger.release(addr)) released.push(addr);
    } catch (error) {
      problems.push(error);
    }
  }
  ErrorList.throwIfAny('release addresses', problems);
  return released;
}
