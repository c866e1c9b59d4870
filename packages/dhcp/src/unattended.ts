/** Leases whose daemon does not run: what was saved is still there to be given back. */

import type { Random } from './client/ports.ts';
import { release } from './client/release.ts';
import { bootClock, bootId } from './kernel/boot-clock.ts';
import { KernelInterface } from './kernel/interface.ts';
import { fileLeaseStore, leaseDirectory } from './leases/lease-store.ts';
import type { LeaseOwner } from './leases/owner.ts';
import { DEFAULT_STATE_DIR } from './places.ts';

/** Whose leases, and how. */
export interface UnattendedOptions {
  /** The socket of the daemon that kept them. */
  readonly socketPath: string;
  /** Default {@link DEFAULT_STATE_DIR}. */
  readonly stateDir?: string | undefined;
  readonly random: Random;
  /** Hears of what could not be done. */
  readonly log: (message: string) => void;
}

/** The saved leases of a daemon that does not run; while it runs they are its own, and it is to be asked. */
export class UnattendedLeases {
  readonly #options: UnattendedOptions;
  readonly #store: ReturnType<typeof fileLeaseStore>;

  constructor(options: UnattendedOptions) {
    const { stateDir = DEFAULT_STATE_DIR, socketPath, log } = options;
    this.#options = options;
    this.#store = fileLeaseStore(leaseDirectory(stateDir, socketPath), log);
  }

  /** Who has one. */
  owners(): readonly LeaseOwner[] {
    return this.#store.list().map(({ owner }) => owner);
  }

  /**
   * Gives an owner's lease back, if it has one, and forgets it. Where the interface is gone already, nothing can be
   * sent, and the lease runs out by itself.
   *
   * @throws {DhcpError} DHCP_STORE
   */
  async release(owner: LeaseOwner): Promise<void> {
    const stored = this.#store.find(owner);
    if (stored === undefined) return;
    const { random, log } = this.#options;
    const { place, identity, lease } = stored;
    this.#store.remove(owner);
    if (stored.boot !== bootId()) return;
    const link = new KernelInterface(place, bootClock);
    try {
      await release({ link, identity, clock: bootClock, random, timing: NEVER_WAITS, log }, lease);
    } catch (error) {
      log(
        `${lease.prefix.addr} was not given back: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}

/** Giving back waits for nothing. */
const NEVER_WAITS = { timeout: 0, resendMax: 0, resendTimeout: 0, probe: 0 };
