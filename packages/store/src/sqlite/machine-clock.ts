import { readFileSync } from 'node:fs';

/** The clock that leases in a file run on: all processes of a machine see the same one, and nobody can set it. */
export interface MachineClock {
  /** Which run of the machine this is. */
  readonly boot: string;
  /** Milliseconds since that began. */
  now(): number;
}

/** The kernel's monotonic clock: it stands still while the machine sleeps, as do those who hold leases. */
export function machineClock(): MachineClock {
  return {
    boot: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
    now: () => Number(process.hrtime.bigint() / 1_000_000n),
  };
}
