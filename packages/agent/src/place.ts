/** Where a process lives: its network and mount namespaces, by the identity of their files — namespaces(7). */
import { type Fd, identityOf, O, openFile } from '@heddle/sys';

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
  return identityOf(network) === place.network && identityOf(mounts) === place.mounts;
}

function identityAt(path: string): string {
  using file = openFile(path, O.RDONLY);
  return identityOf(file);
}
