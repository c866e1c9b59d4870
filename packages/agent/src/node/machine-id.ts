/** What tells this machine from all others. */
import { readFileSync } from 'node:fs';

/** machine-id(5); where there is none, the run of the machine, which tells it from others until its next start. */
export function machineId(): string {
  for (const path of ['/etc/machine-id', '/var/lib/dbus/machine-id', '/proc/sys/kernel/random/boot_id']) {
    const id = readIfThere(path).trim();
    if (id !== '' && id !== 'uninitialized') return id;
  }
  return '';
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
