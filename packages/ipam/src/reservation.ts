/** Reservations: which address is held by which attachment. */
import type { Addr } from '@heddle/netaddr';

/** The attachment that holds an address, within one network. */
export interface Owner {
  readonly containerID: string;
  /** Not known of reservations in the oldest format, which then stand for every interface of the container. */
  readonly ifName?: string;
}

/** One address that is held. */
export interface Reservation {
  readonly addr: Addr;
  /** Not known when writing the reservation was cut short; such a one is nobody's. */
  readonly owner?: Owner;
  /** When it was made, in milliseconds since the epoch, with the store's own precision. */
  readonly createdAt: number;
}

/** Whether `reservation` is `owner`'s: same container and interface, or same container in the oldest format. */
export function isOwnedBy(owner: Owner, reservation: Reservation): boolean {
  const holder = reservation.owner;
  if (holder === undefined || holder.containerID !== owner.containerID.trim()) return false;
  return holder.ifName === undefined || holder.ifName === owner.ifName;
}

/** Whether both are one and the same act of reserving, so that nobody released and took it in between. */
export function isSameReservation(a: Reservation, b: Reservation): boolean {
  return (
    a.addr.equals(b.addr) &&
    a.createdAt === b.createdAt &&
    a.owner?.containerID === b.owner?.containerID &&
    a.owner?.ifName === b.owner?.ifName
  );
}

/** An owner as messages name it: `eth0 of c1`. */
export function formatOwner(owner: Owner | undefined): string {
  if (owner === undefined) return 'nobody';
  return owner.ifName === undefined ? owner.containerID : `${owner.ifName} of ${owner.containerID}`;
}
