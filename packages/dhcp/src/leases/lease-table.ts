/**
 * All leases of a machine: who has which, what is asked for and given back, and what becomes of them when the daemon
 * starts again. One at a time for each owner.
 */
import { HeddleError } from '@heddle/errors';
import type { Prefix } from '@heddle/netaddr';
import { type AcquireOptions, acquire } from '../client/acquire.ts';
import type { Lease } from '../client/lease.ts';
import type { Client, Clock, Identity, NetworkInterface, Random, Timing } from '../client/ports.ts';
import { release } from '../client/release.ts';
import { DhcpError } from '../dhcp-error.ts';
import type { Place } from '../kernel/interface.ts';
import { KeptLease, type LeaseState } from './kept-lease.ts';
import type { LeaseStore, StoredLease } from './lease-store.ts';
import { clientIdOf, type LeaseOwner, ownerName } from './owner.ts';

/** What a lease table stands on. */
export interface LeaseTablePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: LeaseStore;
  /** Which run of the machine this is. */
  readonly boot: string;
  /** @throws {DhcpError} DHCP_INTERFACE_GONE, DHCP_INTERFACE_UNFIT */
  readonly locate: (netns: string, ifName: string) => Promise<Place>;
  readonly interfaceAt: (place: Place) => NetworkInterface;
  readonly log: (message: string) => void;
}

/** How leases are asked for. */
export interface LeaseTableOptions {
  readonly timing: Timing;
  /** Whether servers are asked to broadcast their answers. */
  readonly broadcast: boolean;
}

/** A lease that somebody asks for. */
export interface LeaseRequest {
  readonly owner: LeaseOwner;
  /** A path of the namespace that holds the interface. */
  readonly netns: string;
  readonly provide: Identity['provide'];
  readonly parameters: Identity['parameters'];
}

/** What is known of a lease. */
export interface LeaseStatus {
  readonly owner: LeaseOwner;
  readonly state: LeaseState;
  readonly lease: Lease;
}

/** See the file's comment. */
export class LeaseTable {
  readonly #ports: LeaseTablePorts;
  readonly #options: LeaseTableOptions;
  readonly #kept = new Map<string, KeptLease>();
  /** What is being asked for, so that a release can cut it short. */
  readonly #asking = new Map<string, AbortController>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(ports: LeaseTablePorts, options: LeaseTableOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /**
   * A lease for an owner. The one that it has already, when that is alive and of the same interface.
   *
   * @param signal gives up; a lease that came nevertheless is given back
   * @throws {DhcpError} see `acquire`
   */
  acquire(request: LeaseRequest, signal: AbortSignal): Promise<Lease> {
    return this.#lease(request, { signal });
  }

  /**
   * The same for an interface that has an address already, from a daemon that is no more and left no file. A lease
   * of another address is of no use to it, and is given back.
   *
   * @throws {DhcpError} also DHCP_BAD_ANSWER, when the servers want it to have another address
   */
  adopt(request: LeaseRequest, prefix: Prefix, signal: AbortSignal): Promise<Lease> {
    return this.#lease(request, { signal, prefix });
  }

  /** Gives an owner's lease back, or stops asking for one; false when there was neither. */
  release(owner: LeaseOwner): Promise<boolean> {
    const name = ownerName(owner);
    this.#asking.get(name)?.abort(new DhcpError('DHCP_NO_ANSWER', 'the lease was given back before it came'));
    return this.#inTurn(name, async () => {
      const kept = this.#kept.get(name);
      if (kept === undefined) return false;
      await this.#giveUp(name, kept);
      return true;
    });
  }

  /** What is known of an owner's lease. */
  find(owner: LeaseOwner): LeaseStatus | undefined {
    return this.#kept.get(ownerName(owner))?.status;
  }

  /** What is known of all leases. */
  list(): readonly LeaseStatus[] {
    return [...this.#kept.values()].map(({ status }) => status);
  }

  /** Goes on keeping the leases in the store, and forgets those whose interfaces are gone. */
  async resume(): Promise<void> {
    const { store, log } = this.#ports;
    this.#tolerate(this.#ports, () => store.tidy());
    await Promise.all(
      store.list().map(async (stored) => {
        const { owner, place, identity, lease } = stored;
        const client = this.#client(owner, place, identity);
        try {
          if (stored.boot !== this.#ports.boot)
            throw new DhcpError('DHCP_INTERFACE_GONE', 'the machine restarted');
          await client.link.check();
        } catch (error) {
          if (!(error instanceof HeddleError)) throw error;
          if (DhcpError.is(error, 'DHCP_INTERFACE_GONE')) {
            log(`${ownerName(owner)}: forgets ${lease.prefix}: ${error.message}`);
            this.#forget(owner);
            return;
          }
          // It may well be there, with an address that somebody has to keep.
          client.log(error.message);
        }
        client.log(`goes on with ${lease.prefix} from ${lease.server}`);
        this.#keep(stored, client);
      }),
    );
  }

  /** Stops keeping leases without giving them back; they stay in the store. */
  async stop(): Promise<void> {
    for (const asking of this.#asking.values())
      asking.abort(new DhcpError('DHCP_NO_ANSWER', 'the daemon ends'));
    await Promise.all([...this.#kept.values()].map((kept) => kept.stop()));
  }

  /** @param prefix what the interface has already, if anything */
  #lease(
    { owner, netns, provide, parameters }: LeaseRequest,
    { signal, prefix }: { readonly signal: AbortSignal; readonly prefix?: Prefix },
  ): Promise<Lease> {
    const name = ownerName(owner);
    return this.#inTurn(name, async () => {
      const place = await this.#ports.locate(netns, owner.ifName);
      const kept = this.#kept.get(name);
      if (kept?.isAlive && isSame(kept.place, place)) return kept.lease;
      if (kept !== undefined) await this.#giveUp(name, kept);
      const { broadcast } = this.#options;
      const identity = { clientId: clientIdOf(owner), provide, parameters, broadcast };
      const client = this.#client(owner, place, identity);
      const wish = prefix === undefined ? {} : { wish: prefix.addr, inUse: true };
      const lease = await this.#ask(name, client, { ...wish, signal });
      if (prefix !== undefined && !lease.prefix.equals(prefix)) {
        await release(client, lease);
        throw new DhcpError('DHCP_BAD_ANSWER', `the servers want ${lease.prefix} in the place of ${prefix}`);
      }
      client.log(`${prefix === undefined ? 'leased' : 'took over'} ${lease.prefix} from ${lease.server}`);
      this.#keep({ boot: this.#ports.boot, owner, place, identity, lease }, client);
      return lease;
    });
  }

  async #ask(name: string, client: Client, options: AcquireOptions): Promise<Lease> {
    const { signal } = options;
    const asking = new AbortController();
    const stop = () => asking.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    this.#asking.set(name, asking);
    try {
      signal.throwIfAborted();
      const lease = await acquire(client, { ...options, signal: asking.signal });
      if (!asking.signal.aborted) return lease;
      await release(client, lease);
      throw asking.signal.reason;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#asking.delete(name);
    }
  }

  #keep(stored: StoredLease, client: Client): void {
    const name = ownerName(stored.owner);
    const { store } = this.#ports;
    const kept = new KeptLease(stored, client, {
      extended: (lease) => this.#tolerate(client, () => store.save({ ...stored, lease })),
      ended: () => {
        this.#tolerate(client, () => store.remove(stored.owner));
        if (!kept.hasStory && this.#kept.get(name) === kept) this.#kept.delete(name);
      },
    });
    this.#kept.set(name, kept);
    this.#tolerate(client, () => store.save(stored));
    kept.start();
  }

  /** Gives back what is kept. That the server hears of it cannot be made sure of, so a failure is only told. */
  async #giveUp(name: string, kept: KeptLease): Promise<void> {
    const { client, lease, isAlive } = kept;
    await kept.stop();
    this.#kept.delete(name);
    this.#forget(kept.status.owner);
    if (!isAlive) return;
    try {
      await release(client, lease);
      client.log(`gave ${lease.prefix.addr} back to ${lease.server}`);
    } catch (error) {
      if (!(error instanceof HeddleError)) throw error;
      client.log(`could not give ${lease.prefix.addr} back: ${error.message}`);
    }
  }

  #forget(owner: LeaseOwner): void {
    this.#tolerate(this.#ports, () => this.#ports.store.remove(owner));
  }

  /** A lease is good without its file; it will only not outlive the daemon. */
  #tolerate({ log }: { readonly log: (message: string) => void }, change: () => void): void {
    try {
      change();
    } catch (error) {
      if (!(error instanceof HeddleError)) throw error;
      log(error.message);
    }
  }

  #client(owner: LeaseOwner, place: Place, identity: Identity): Client {
    const { clock, random, interfaceAt, log } = this.#ports;
    return {
      link: interfaceAt(place),
      identity,
      timing: this.#options.timing,
      ...{ clock, random },
      log: (message) => log(`${ownerName(owner)}: ${message}`),
    };
  }

  async #inTurn<T>(name: string, run: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(name);
    const mine = before === undefined ? run() : before.then(run);
    const settled = mine.then(
      () => {},
      () => {},
    );
    this.#turns.set(name, settled);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(name) === settled) this.#turns.delete(name);
    }
  }
}

function isSame(a: Place, b: Place): boolean {
  return a.identity === b.identity && a.index === b.index;
}
