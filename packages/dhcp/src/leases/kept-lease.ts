/** One lease that is being kept in the background. */
import { HeddleError } from '@heddle/errors';
import { type KeptState, keep, type LeaseEnd } from '../client/keep.ts';
import type { Lease } from '../client/lease.ts';
import type { Client } from '../client/ports.ts';
import type { Place } from '../kernel/interface.ts';
import type { LeaseOwner } from './owner.ts';

/** Where a lease stands, or why it is kept no more. */
export type LeaseState = KeptState | LeaseEnd;

/** Who is told what becomes of it. */
export interface KeptLeaseEvents {
  /** It has new times. */
  extended(lease: Lease): void;
  /** It is kept no more; not called for {@link KeptLease.stop}. */
  ended(): void;
}

/** See the file's comment. */
export class KeptLease {
  readonly owner: LeaseOwner;
  readonly place: Place;
  readonly client: Client;
  readonly #events: KeptLeaseEvents;
  readonly #stopping = new AbortController();
  #lease: Lease;
  #state: LeaseState = 'bound';
  #running: Promise<void> = Promise.resolve();

  constructor(
    about: { readonly owner: LeaseOwner; readonly place: Place; readonly lease: Lease },
    client: Client,
    events: KeptLeaseEvents,
  ) {
    this.owner = about.owner;
    this.place = about.place;
    this.#lease = about.lease;
    this.client = client;
    this.#events = events;
  }

  get lease(): Lease {
    return this.#lease;
  }

  /** What there is to say about it. */
  get status(): { readonly owner: LeaseOwner; readonly state: LeaseState; readonly lease: Lease } {
    return { owner: this.owner, state: this.#state, lease: this.#lease };
  }

  /** Whether the address may be used. */
  get isAlive(): boolean {
    return this.#state === 'bound' || this.#state === 'renewing' || this.#state === 'rebinding';
  }

  /** Whether somebody may want to know how it ended: the interface is there, but its address is lost. */
  get hasStory(): boolean {
    return this.#state === 'expired' || this.#state === 'refused';
  }

  /** Begins to keep it. */
  start(): void {
    this.#running = this.#run();
  }

  /** Stops keeping it, and resolves when nothing is under way any more. The lease stays as it is. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const changed = (state: KeptState, lease: Lease) => {
      const isNew = lease !== this.#lease;
      this.#state = state;
      this.#lease = lease;
      if (isNew) this.#events.extended(lease);
    };
    try {
      this.#state = await keep(this.client, this.#lease, { changed }, this.#stopping.signal);
      if (this.#state === 'gone') this.client.log(`the interface is gone: forgets ${this.#lease.prefix}`);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      // Nothing else may end the daemon, which keeps the leases of others too.
      this.client.log(`keeping ${this.#lease.prefix} failed: ${describe(error)}`);
      this.#state = 'expired';
    }
    this.#events.ended();
  }
}

function describe(error: unknown): string {
  if (error instanceof HeddleError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
