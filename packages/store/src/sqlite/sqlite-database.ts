/** The contract in SQL: every method is one transaction, and none waits for anything but the file's lock. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { checkKey, checkLeaseTime, checkPrefix, checkTransaction, endOf } from '../request.ts';
import type { Change, Entry, Lease, LeaseId, Listing, Revision, Transaction, WatchBatch } from '../store.ts';
import { compacted, conflict, leaseGone } from '../store-error.ts';
import type { MachineClock } from './machine-clock.ts';

interface Row {
  readonly key: string;
  readonly value: string;
  readonly created: number;
  readonly revision: number;
  readonly lease: number | null;
}

/** A change in the log; without a value the key was deleted. */
type LoggedRow = Omit<Row, 'value' | 'created'> & {
  readonly value: string | null;
  readonly created: number | null;
};

interface Moment {
  readonly revision: Revision;
  /** The revision after which all changes are kept. */
  readonly oldest: Revision;
}

/** How often old changes are forgotten, in commits: seldom, because it costs more than a commit. */
const FORGET_EVERY = 64;

/** See the file's comment. */
export class SqliteDatabase {
  readonly #database: DatabaseSync;
  readonly #clock: MachineClock;
  readonly #history: number;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, clock: MachineClock, history: number) {
    this.#database = database;
    this.#clock = clock;
    this.#history = history;
  }

  get(key: string): Entry | undefined {
    checkKey(key);
    this.#expireIfDue();
    return this.#entry(key);
  }

  list(prefix: string): Listing {
    checkPrefix(prefix);
    this.#expireIfDue();
    return this.#transaction('BEGIN', () => {
      const rows = this.#rowsIn('entry', 'key, value, created, revision, lease', prefix, 'key', []);
      return { entries: (rows as unknown as readonly Row[]).map(toEntry), revision: this.#moment().revision };
    });
  }

  commit(transaction: Transaction): Revision {
    checkTransaction(transaction);
    const { conditions = [], changes } = transaction;
    return this.#write(() => {
      const unmet = conditions.filter(({ key, revision }) => (this.#entry(key)?.revision ?? 0) !== revision);
      if (unmet.length > 0) throw conflict(unmet.map(({ key }) => key));
      for (const change of changes) {
        if ('put' in change && change.lease !== undefined) this.#secondsOf(change.lease);
      }
      return this.#apply(changes);
    });
  }

  /** The batches after a revision that touch the prefix, and the revision up to which that is all. */
  changes(
    prefix: string,
    after: Revision,
  ): { readonly batches: readonly WatchBatch[]; readonly upTo: Revision } {
    checkPrefix(prefix);
    this.#expireIfDue();
    // Every watch is woken by every commit, mostly for nothing, and looks again after each that was for it.
    if (after >= this.#moment().revision) return { batches: [], upTo: after };
    return this.#transaction('BEGIN', () => {
      const { revision, oldest } = this.#moment();
      if (after < oldest) throw compacted(prefix, after, oldest);
      const columns = 'revision, key, value, created, lease';
      const rows = this.#rowsIn('change', columns, prefix, 'revision, key', [['revision > ?', after]]);
      return { batches: toBatches(rows as unknown as readonly LoggedRow[]), upTo: revision };
    });
  }

  #moment(): Moment {
    return this.#prepare('SELECT revision, oldest FROM moment').get() as unknown as Moment;
  }

  grantLease(seconds: number): Lease {
    checkLeaseTime(seconds);
    return this.#write(() => {
      const { lastInsertRowid } = this.#prepare(
        'INSERT INTO lease (seconds, boot, ends) VALUES (?, ?, ?)',
      ).run(seconds, this.#clock.boot, this.#endAfter(seconds));
      return { id: String(lastInsertRowid), seconds };
    });
  }

  keepAlive(id: LeaseId): Lease {
    return this.#write(() => {
      const seconds = this.#secondsOf(id);
      this.#prepare('UPDATE lease SET ends = ? WHERE id = ?').run(this.#endAfter(seconds), id);
      return { id, seconds };
    });
  }

  revokeLease(id: LeaseId): void {
    this.#write(() => {
      this.#secondsOf(id);
      this.#end(id);
    });
  }

  close(): void {
    this.#database.close();
  }

  #apply(changes: readonly Change[]): Revision {
    const before = this.#moment().revision;
    const revision = before + 1;
    let changed = false;
    for (const change of changes) {
      if ('put' in change) this.#put(change, revision);
      else if (!this.#delete(change.delete, revision)) continue;
      changed = true;
    }
    if (!changed) return before;
    this.#prepare('UPDATE moment SET revision = ?').run(revision);
    if (revision % FORGET_EVERY === 0) this.#forget(revision - this.#history);
    return revision;
  }

  #put({ put: key, value, lease }: Extract<Change, { put: string }>, revision: Revision): void {
    const created = this.#entry(key)?.created ?? revision;
    this.#prepare(
      'INSERT OR REPLACE INTO entry (key, value, created, revision, lease) VALUES (?, ?, ?, ?, ?)',
    ).run(key, value, created, revision, lease ?? null);
    this.#prepare('INSERT INTO change (revision, key, value, created, lease) VALUES (?, ?, ?, ?, ?)').run(
      revision,
      key,
      value,
      created,
      lease ?? null,
    );
  }

  #delete(key: string, revision: Revision): boolean {
    if (this.#prepare('DELETE FROM entry WHERE key = ?').run(key).changes === 0) return false;
    this.#prepare('INSERT INTO change (revision, key) VALUES (?, ?)').run(revision, key);
    return true;
  }

  #forget(upTo: Revision): void {
    if (upTo <= this.#moment().oldest) return;
    this.#prepare('DELETE FROM change WHERE revision <= ?').run(upTo);
    this.#prepare('UPDATE moment SET oldest = ?').run(upTo);
  }

  #entry(key: string): Entry | undefined {
    const row = this.#prepare('SELECT key, value, created, revision, lease FROM entry WHERE key = ?').get(
      key,
    );
    return row === undefined ? undefined : toEntry(row as unknown as Row);
  }

  #secondsOf(id: LeaseId): number {
    const row = this.#prepare('SELECT seconds FROM lease WHERE id = ?').get(id);
    if (row === undefined) throw leaseGone(id);
    return Number(row['seconds']);
  }

  #end(id: LeaseId | number): void {
    const rows = this.#prepare('SELECT key FROM entry WHERE lease = ? ORDER BY key').all(id);
    this.#prepare('DELETE FROM lease WHERE id = ?').run(id);
    this.#apply(rows.map(({ key }) => ({ delete: String(key) })));
  }

  #endAfter(seconds: number): number {
    return Math.ceil(this.#clock.now()) + seconds * 1000;
  }

  /** Leases of an earlier run of the machine are over: whoever held them is, too. */
  #expired(): readonly number[] {
    const rows = this.#prepare('SELECT id FROM lease WHERE ends <= ? OR boot <> ?').all(
      Math.floor(this.#clock.now()),
      this.#clock.boot,
    );
    return rows.map(({ id }) => Number(id));
  }

  #expireIfDue(): void {
    if (this.#expired().length > 0) this.#write(() => {});
  }

  #write<T>(work: () => T): T {
    return this.#transaction('BEGIN IMMEDIATE', () => {
      const expired = this.#expired();
      for (const id of expired) this.#end(id);
      if (expired.length === 0) return work();
      // What expired stays expired, even if the work fails.
      this.#database.exec('COMMIT; BEGIN IMMEDIATE');
      return work();
    });
  }

  #transaction<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => T): T {
    this.#database.exec(begin);
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #rowsIn(
    table: 'entry' | 'change',
    columns: string,
    prefix: string,
    order: string,
    more: readonly (readonly [condition: string, value: number])[],
  ) {
    const end = endOf(prefix);
    const conditions = ['key >= ?', ...(end === undefined ? [] : ['key < ?']), ...more.map(([text]) => text)];
    const values = [prefix, ...(end === undefined ? [] : [end]), ...more.map(([, value]) => value)];
    const where = conditions.join(' AND ');
    return this.#prepare(`SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY ${order}`).all(...values);
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

function toEntry({ key, value, created, revision, lease }: Row): Entry {
  return { key, value, created, revision, ...(lease !== null && { lease: String(lease) }) };
}

function toBatches(rows: readonly LoggedRow[]): readonly WatchBatch[] {
  return [...Map.groupBy(rows, ({ revision }) => revision)].map(([revision, changed]) => ({
    revision,
    events: changed.map(({ key, value, created, lease }) =>
      value === null
        ? { kind: 'delete', key, revision }
        : { kind: 'put', key, entry: toEntry({ key, value, created: created ?? revision, revision, lease }) },
    ),
  }));
}
