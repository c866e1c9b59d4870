/** Gathers what this machine knows of attachments. */
import { listConfigDir, ResultCache } from '@heddle/cni/runtime';
import {
  type Evidence,
  hasNetns,
  type ListedAttachment,
  listAttachments,
  readReservations,
  reservationDirs,
} from '@heddle/doctor/inventory';
import { configDir } from '../request/environment.ts';
import { warn } from '../request/runtime.ts';
import type { Surroundings } from '../surroundings.ts';

/** Where else to look than in the usual places. */
export interface InventoryFlags {
  readonly cacheDir?: string | undefined;
}

/** How that flag is declared. */
export const INVENTORY_FLAGS = {
  cacheDir: {
    kind: 'parsed',
    parse: String,
    brief: "the runtime's cache (default /var/lib/cni)",
    placeholder: 'dir',
    optional: true,
  },
} as const;

/** The attachments, and what they were found by. */
export interface Inventory {
  readonly attachments: readonly ListedAttachment[];
  readonly evidence: Evidence;
}

/** Takes stock. A source that cannot be read is an error: a list that silently lacks half is worse. */
export async function takeInventory(surroundings: Surroundings, flags: InventoryFlags): Promise<Inventory> {
  const { places, openHost } = surroundings;
  const networks = listConfigDir(configDir(surroundings)).networks.map(({ list }) => list);
  using host = openHost();
  const evidence: Evidence = {
    cached: new ResultCache(flags.cacheDir ?? places.cacheDir).attachments(),
    links: await host.links.list(),
    reservations: readReservations(reservationDirs(places.reservationDir, networks), (message) =>
      warn(surroundings, message),
    ),
    hasNetns,
  };
  return { attachments: listAttachments(evidence), evidence };
}
