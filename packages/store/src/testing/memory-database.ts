/** The state of a store in memory, without any waiting: what the contract says, in the plainest way. */
import { checkKey, checkLeaseTime, checkPrefix, checkTransaction } from '../request.ts';
import type {
  Change,
  Entry,
  Lease,
  LeaseId,
  Listing,
  Revision,
  Transaction,
  WatchBatch,
  WatchEvent,
} from '../store.ts';
import { compacted, conflict, leaseGone } from '../store-error.ts';

/** Time, as a store in memory needs it. */
export interface Time {
  /** Milliseconds since any moment. */
  now(): number;
  /** Calls once so many milliseconds have passed. */
  after(milliseconds: number, run: () => void): void;
}

/** What a store in memory is like. */
export interface MemoryOptions {
  readonly time?: Time;
  /** How many commits watches can go back; 1,000 by default. */
  readonly history?: number;
}

interface Bound {
  readonly seconds: number;
  readonly end: number;
  readonly keys: Set<string>;
}

/** See the file's comment. Several stores can be opened on it, as several processes would. */
export class MemoryDatabase {
  readonly #time: Time;
  readonly #history: number;
  readonly #entries = new Map<string, Entry>();
  readonly #leases = new Map<LeaseId, Bound>();
  readonly #listeners = new Set<() => void>();
  #keys: string[] = [];
  #log: WatchBatch[] = [];
  #revision: Revision = 0;
  #granted = 0;

  constructor({ time = realTime, history = 1000 }: MemoryOptions = {}) {
    this.#time = time;
    this.#history = history;
  }

  get(key: string): Entry | undefined {
    checkKey(key);
    this.#expire();
    return this.#entries.get(key);
  }

  list(prefix: string): Listing {
    checkPrefix(prefix);
    this.#expire();
    const entries: Entry[] = [];
    for (let at = this.#indexOf(prefix); at < this.#keys.length; at++) {
      const key = this.#keys[at] ?? '';
      if (!key.startsWith(prefix)) break;
      const entry = this.#entries.get(key);
      if (entry !== undefined) entries.push(entry);
    }
    return { entries, revision: this.#revision };
  }

  commit(transaction: Transaction): Revision {
    checkTransaction(transaction);
    this.#expire();
    const { conditions = [], changes } = transaction;
    const unmet = conditions.filter(
      ({ key, revision }) => (this.#entries.get(key)?.revision ?? 0) !== revision,
    );
    if (unmet.length > 0) throw conflict(unmet.map(({ key }) => key));
    for (const change of changes) {
      if ('put' in change && change.lease !== undefined) this.#bound(change.lease);
    }
    return this.#apply(changes);
  }

  /** The batches after a revision that touch the prefix. */
  changes(prefix: string, after: Revision): readonly WatchBatch[] {
    checkPrefix(prefix);
    this.#expire();
    const oldest = this.#revision - this.#log.length;
    if (after < oldest) throw compacted(prefix, after, oldest);
    return this.#log.slice(after - oldest).flatMap((batch) => {
      const events = batch.events.filter(({ key }) => key.startsWith(prefix));
      return events.length === 0 ? [] : [{ revision: batch.revision, events }];
    });
  }

  grantLease(seconds: number): Lease {
    checkLeaseTime(seconds);
    const id = String(++this.#granted);
    this.#bind(id, seconds, new Set());
    return { id, seconds };
  }

  keepAlive(id: LeaseId): Lease {
    this.#expire();
    const { seconds, keys } = this.#bound(id);
    this.#bind(id, seconds, keys);
    return { id, seconds };
  }

  revokeLease(id: LeaseId): void {
    this.#expire();
    const { keys } = this.#bound(id);
    this.#leases.delete(id);
    this.#apply([...keys].map((key) => ({ delete: key })));
  }

  /** Forgets all changes up to now, as etcd does when it is compacted. */
  compact(): void {
    this.#log = [];
  }

  /** Calls back after every commit. @returns what ends it */
  onCommit(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #apply(changes: readonly Change[]): Revision {
    const revision = this.#revision + 1;
    const events = changes.flatMap((change): readonly WatchEvent[] => {
      if ('put' in change) return [{ kind: 'put', key: change.put, entry: this.#put(change, revision) }];
      return this.#delete(change.delete) ? [{ kind: 'delete', key: change.delete, revision }] : [];
    });
    if (events.length === 0) return this.#revision;
    this.#revision = revision;
    this.#log.push({ revision, events });
    if (this.#log.length > 2 * this.#history) this.#log = this.#log.slice(-this.#history);
    for (const listener of this.#listeners) listener();
    return revision;
  }

  #put({ put: key, value, lease }: Extract<Change, { put: string }>, revision: Revision): Entry {
    const before = this.#entries.get(key);
    if (before === undefined) this.#keys.splice(this.#indexOf(key), 0, key);
    else this.#unbind(before);
    if (lease !== undefined) this.#leases.get(lease)?.keys.add(key);
    const created = before?.created ?? revision;
    const entry = { key, value, created, revision, ...(lease !== undefined && { lease }) };
    this.#entries.set(key, entry);
    return entry;
  }

  #delete(key: string): boolean {
    const before = this.#entries.get(key);
    if (before === undefined) return false;
    this.#unbind(before);
    this.#entries.delete(key);
    this.#keys.splice(this.#indexOf(key), 1);
    return true;
  }

  #unbind({ key, lease }: Entry): void {
    if (lease !== undefined) this.#leases.get(lease)?.keys.delete(key);
  }

  #bound(id: LeaseId): Bound {
    const bound = this.#leases.get(id);
    if (bound === undefined) throw leaseGone(id);
    return bound;
  }

  #bind(id: LeaseId, seconds: number, keys: Set<string>): void {
    this.#leases.set(id, { seconds, end: this.#time.now() + seconds * 1000, keys });
    this.#time.after(seconds * 1000, () => this.#expire());
  }

  #expire(): void {
    const now = this.#time.now();
    for (const [id, { end, keys }] of this.#leases) {
      if (end > now) continue;
      this.#leases.delete(id);
      this.#apply([...keys].map((key) => ({ delete: key })));
    }
  }

  /** Where the key is among the sorted ones, or would be. */
  #indexOf(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const realTime: Time = {
  now: () => performance.now(),
  // One millisecond more: timers may fire a little before their time.
  after: (milliseconds, run) => void setTimeout(run, milliseconds + 1).unref(),
};
