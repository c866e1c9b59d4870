/** The addresses that host-local holds for containers, whichever directories the networks keep them in. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type NetworkConfigList } from '@heddle/cni';
import { fileStore } from '@heddle/ipam';

/** An address that is held for a container. */
export interface NetworkReservation {
  readonly network: string;
  readonly containerID: string;
  /** Missing in the oldest format. */
  readonly ifName?: string;
  readonly addr: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The file that holds it. */
  readonly path: string;
}

/** The directories that hold reservations: the usual one, and those that networks name. */
export function reservationDirs(usual: string, networks: readonly NetworkConfigList[]): readonly string[] {
  const named = networks.flatMap(({ plugins }) =>
    plugins.flatMap(({ raw }) => {
      const ipam = raw['ipam'];
      const dataDir = isJsonObject(ipam) ? ipam['dataDir'] : undefined;
      return typeof dataDir === 'string' && dataDir !== '' ? [dataDir] : [];
    }),
  );
  return [...new Set([usual, ...named])];
}

/** All reservations below these directories, each of which has one directory for each network. */
export function readReservations(
  directories: readonly string[],
  warn: (message: string) => void,
): readonly NetworkReservation[] {
  return directories.flatMap((directory) =>
    networksIn(directory).flatMap((network) => {
      const store = fileStore({ directory: join(directory, network), warn });
      return store.list().flatMap(({ addr, owner, createdAt }) => {
        if (owner === undefined) return [];
        const path = join(directory, network, addr.toString());
        return [{ network, ...owner, addr: addr.toString(), createdAt, path }];
      });
    }),
  );
}

function networksIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
