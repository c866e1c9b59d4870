/** A store that lives as long as the process: for tests, and for trying allocation out. */
import type { Addr } from '@heddle/netaddr';
import type { Reservation } from '../reservation.ts';
import type { Ledger, ReservationStore } from '../store.ts';

/**
 * A store without a file.
 *
 * @param now the clock that dates reservations
 * @example
 * const store = memoryStore();
 * await allocate(store, { rangeSets, owner: { containerID: 'c1', ifName: 'eth0' } });
 */
export function memoryStore(now: () => number = counter()): ReservationStore {
  const reservations = new Map<string, Reservation>();
  const last = new Map<number, Addr>();
  const ledger: Ledger = {
    list: () => [...reservations.values()],
    held: () => reservations,
    ofContainer: (id) => [...reservations.values()].filter(({ owner }) => owner?.containerID === id.trim()),
    reserve(addr, owner) {
      const key = addr.toString();
      if (reservations.has(key)) return false;
      reservations.set(key, { addr, owner, createdAt: now() });
      return true;
    },
    release: (addr) => reservations.delete(addr.toString()),
    lastReserved: (index) => last.get(index),
    remember: (index, addr) => void last.set(index, addr),
  };
  return {
    list: () => ledger.list(),
    async exclusive(work) {
      // Work is synchronous, so nothing can come between; but a store that waits must not look like one that
      // does not.
      await undefined;
      return work(ledger);
    },
  };
}

function counter(): () => number {
  let ticks = 0;
  return () => ++ticks;
}
