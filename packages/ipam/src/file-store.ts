/**
 * Reservations as files, in the reference's layout and bytes, so that both can work on one directory at the
 * same time and either can take over from the other:
 *
 * - `lock`: empty; whoever changes anything holds flock(2) on it;
 * - one file per address, named by its canonical text, with `<container ID>\r\n<interface>` inside (only the
 *   container ID in the oldest format);
 * - `last_reserved_ip.<index of the range set>`: the address given out last.
 *
 * Source: the disk backend of host-local in containernetworking/plugins.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { flockAsync, makeDirectory, O, openFile } from '@heddle/sys';
import { attempt, fileLedger, readReservations } from './file-ledger.ts';
import type { ReservationIndexes } from './reservation-index.ts';
import type { Ledger, ReservationStore } from './store.ts';

/** Where a file store is and whom it tells about repairs. */
export interface FileStoreOptions {
  /** The network's own directory. Made on the first reservation. */
  readonly directory: string;
  /** Hears of every remnant that was cleared away. */
  readonly warn?: (message: string) => void;
  /** What this process remembers of directories; without, all is read each time. */
  readonly indexes?: ReservationIndexes | undefined;
}

/** Where host-local keeps its networks unless `dataDir` says otherwise. */
export const DEFAULT_DATA_DIR = '/var/lib/cni/networks';

/**
 * The reservations of one network in a directory.
 *
 * @example
 * const store = fileStore({ directory: join(DEFAULT_DATA_DIR, 'n1'), warn: console.warn });
 * await release(store, { containerID: 'c1', ifName: 'eth0' });
 */
export function fileStore({ directory, warn = () => {}, indexes }: FileStoreOptions): ReservationStore {
  return {
    list: () => readReservations(directory),
    async exclusive(work, { signal, create = true } = {}) {
      if (!create && !existsSync(directory)) return work(EMPTY);
      const lock = attempt(`open the lock in ${directory}`, () => {
        makeDirectory(directory, 0o755);
        return openFile(join(directory, 'lock'), O.RDONLY | O.CREAT, 0o750);
      });
      // The lock belongs to the open file: closing it gives it back, also when the process dies.
      using _ = lock;
      await flockAsync(lock, 'exclusive', signal === undefined ? {} : { signal });
      const index = indexes?.of(directory);
      try {
        return work(fileLedger(directory, warn, index));
      } finally {
        index?.settle();
      }
    },
  };
}

/** A directory that does not exist. Only what takes nothing may ask not to make it. */
const EMPTY: Ledger = {
  list: () => [],
  held: () => new Map(),
  ofContainer: () => [],
  reserve: () => false,
  release: () => false,
  lastReserved: () => undefined,
  remember: () => {},
};
