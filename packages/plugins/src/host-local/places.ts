/** Where host-local finds its files. */
import { join } from 'node:path';
import type { BaseCall } from '@heddle/cni/plugin';
import { fileStore, type ReservationIndexes, type ReservationStore } from '@heddle/ipam';
import type { HostLocalConfig } from './config.ts';

/** Directories that the configuration does not name. */
export interface Places {
  /** Where networks are kept unless `ipam.dataDir` says otherwise. */
  readonly dataDir: string;
  /** Where the runtime remembers its attachments. */
  readonly cacheDir: string;
  /** What a process that stays remembers of reservations. */
  readonly indexes?: ReservationIndexes;
}

/** The reservations of the network that a call is about. */
export function storeOf(call: BaseCall<HostLocalConfig>, { dataDir, indexes }: Places): ReservationStore {
  const configured = call.config.ipam?.dataDir ?? '';
  return fileStore({
    directory: join(configured === '' ? dataDir : configured, call.network),
    warn: (message) => call.warn(message),
    indexes,
  });
}
