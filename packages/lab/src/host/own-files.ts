/** What makes the files of a machine of the lab its own. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import {
  bindPath,
  makeDirectory,
  mountOverlay,
  mountProc,
  mountSysfs,
  mountTmpfs,
  type NetnsHandle,
  O,
  openFile,
  runInNetns,
} from '@heddle/sys';

/** Where every machine sees the directory that all of them share. */
export const SHARED = '/run/lab';

/** Written by programs of the machine; what was there before can be read. */
const LAYERED = ['/etc', '/opt', '/var/lib'] as const;
/** Of this machine's own networking the lab is to see nothing. */
const EMPTY = ['/etc/cni', '/etc/heddle', '/opt/cni', '/var/lib/cni', '/var/lib/heddle'] as const;

/** Mounts all of it; to be called inside of a fresh namespace of mounts. */
export function ownFiles(name: string, netns: NetnsHandle, shared: string): void {
  // It lies below /run, which is about to be covered.
  using common = openFile(shared, O.RDONLY | O.DIRECTORY);
  mountTmpfs('/run');
  makeDirectory(SHARED, 0o700);
  bindPath(`/proc/self/fd/${common.number}`, SHARED);
  for (const directory of LAYERED) {
    const layer = `/run/.layers${directory}`;
    makeDirectory(`${layer}/upper`, 0o755);
    makeDirectory(`${layer}/work`, 0o755);
    mountOverlay(directory, `${layer}/upper`, `${layer}/work`);
  }
  for (const directory of EMPTY) {
    makeDirectory(directory, 0o755);
    mountTmpfs(directory);
  }
  // machine-id(5): two machines are never the same one.
  const id = createHash('sha256').update(name).digest('hex').slice(0, 32);
  writeFileSync('/etc/machine-id', `${id}\n`, { mode: 0o444 });
  runInNetns(netns, () => mountSysfs('/sys'));
  // The last: from here on it shows the processes of the lab, to whoever is one of them.
  mountProc('/proc');
}
