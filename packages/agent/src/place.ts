/** Where a process lives: its network and mount namespaces, by the identity of their files — namespaces(7). */
import { closeSync, fstatSync, openSync } from 'node:fs';
import type { Fd } from '@heddle/sys';

/** Two processes see the same network and the same files when these are equal. */
export interface Place {
  readonly network: string;
  readonly mounts: string;
}

/** Where this process lives. */
export function ownPlace(): Place {
  return { network: identityAt('/proc/self/ns/net'), mounts: identityAt('/proc/self/ns/mnt') };
}

/** Whether descriptors of a network and a mount namespace are those of a place. */
export function isPlace(place: Place, [network, mounts]: readonly Fd[]): boolean {
  if (network === undefined || mounts === undefined) return false;
  return identityOf(network.number) === place.network && identityOf(mounts.number) === place.mounts;
}

function identityAt(path: string): string {
  const fd = openSync(path, 'r');
  try {
    return identityOf(fd);
  } finally {
    closeSync(fd);
  }
}

function identityOf(fd: number): string {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return `${dev}:${ino}`;
}
