/** A store in an etcd cluster (version 3.4 or newer), over its own API. */
import { checkKey, checkLeaseTime, checkPrefix, checkTransaction, endOf } from '../request.ts';
import type {
  CallOptions,
  Change,
  Entry,
  Lease,
  LeaseId,
  Listing,
  Revision,
  Store,
  Transaction,
  WatchBatch,
  WatchEvent,
} from '../store.ts';
import { compacted, conflict, leaseGone, StoreError } from '../store-error.ts';
import { Connection } from './connection.ts';
import { readEndpoints } from './endpoints.ts';
import { type Credentials, EtcdClient } from './etcd-client.ts';
import { COMPARE_MOD, EVENT_DELETE } from './messages.ts';
import { GRANT, KEEP_ALIVE, RANGE, REVOKE, TXN, WATCH } from './methods.ts';

/** Where the cluster is, and how it is spoken to. */
export interface EtcdOptions {
  /** Its members, such as `https://192.0.2.1:2379`: whichever answers is taken. */
  readonly endpoints: readonly string[];
  /** For `https` endpoints; everything in PEM. */
  readonly tls?: TlsOptions;
  readonly credentials?: Credentials;
  /** How long one member may take to answer, in milliseconds; 5,000 by default. */
  readonly timeout?: number;
}

/** Certificates. */
export interface TlsOptions {
  /** Who signs the members' certificates; those whom Node.js trusts by default. */
  readonly ca?: string;
  /** Our own certificate and its key, where members want to see one. */
  readonly cert?: string;
  readonly key?: string;
}

/**
 * Opens the store in a cluster. Nothing is asked yet: an unreachable cluster shows at the first call.
 *
 * @throws {StoreError} STORE_REQUEST_INVALID for endpoints that are none
 * @example
 * await using store = openEtcd({ endpoints: ['https://10.0.0.1:2379'], tls: { ca, cert, key } });
 */
export function openEtcd({ endpoints, tls = {}, credentials, timeout = 5000 }: EtcdOptions): Store {
  const connection = new Connection(readEndpoints(endpoints, tls), tls);
  return new EtcdStore(new EtcdClient(connection, credentials, timeout));
}

class EtcdStore implements Store {
  readonly #client: EtcdClient;
  readonly #closing = new AbortController();

  constructor(client: EtcdClient) {
    this.#client = client;
  }

  async get(key: string, { signal }: CallOptions = {}): Promise<Entry | undefined> {
    checkKey(key);
    const { kvs } = await this.#client.call(RANGE, { key }, signal);
    return kvs[0] === undefined ? undefined : toEntry(kvs[0]);
  }

  async list(prefix: string, { signal }: CallOptions = {}): Promise<Listing> {
    checkPrefix(prefix);
    const { header, kvs } = await this.#client.call(RANGE, rangeOf(prefix), signal);
    return { entries: kvs.map(toEntry), revision: header?.revision ?? 0 };
  }

  async commit(transaction: Transaction, { signal }: CallOptions = {}): Promise<Revision> {
    checkTransaction(transaction);
    const { conditions = [], changes } = transaction;
    const request = {
      compare: conditions.map(({ key, revision }) => ({ target: COMPARE_MOD, key, modRevision: revision })),
      success: changes.map(toOperation),
      failure: conditions.map(({ key }) => ({ range: { key, keysOnly: true } })),
    };
    const { header, succeeded, responses } = await this.#client.call(TXN, request, signal);
    if (succeeded) return header?.revision ?? 0;
    const unmet = conditions.filter(
      ({ revision }, index) => (responses[index]?.range?.kvs[0]?.modRevision ?? 0) !== revision,
    );
    throw conflict(unmet.map(({ key }) => key));
  }

  async *watch(
    prefix: string,
    after: Revision,
    { signal }: CallOptions = {},
  ): AsyncGenerator<WatchBatch, never> {
    checkPrefix(prefix);
    const ends = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    const create = { ...rangeOf(prefix), startRevision: after + 1, fragment: true };
    const stream = await this.#client.stream(WATCH, { create }, ends);
    const stop = () => stream.cancel();
    ends.addEventListener('abort', stop, { once: true });
    try {
      ends.throwIfAborted();
      let events: WatchEvent[] = [];
      for await (const response of stream.messages) {
        if (response.compactRevision > 0) throw compacted(prefix, after, response.compactRevision - 1);
        if (response.canceled) throw cancelled(prefix, stream.endpoint, response.cancelReason);
        events = events.concat(response.events.map(toEvent));
        // A commit that is too large for one message comes in several.
        if (response.fragment) continue;
        yield* toBatches(events);
        events = [];
      }
      throw cancelled(prefix, stream.endpoint, 'the stream ended');
    } catch (error) {
      ends.throwIfAborted();
      throw error;
    } finally {
      ends.removeEventListener('abort', stop);
      stream.cancel();
    }
  }

  async grantLease(seconds: number, { signal }: CallOptions = {}): Promise<Lease> {
    checkLeaseTime(seconds);
    const { id, ttl } = await this.#client.call(GRANT, { ttl: seconds }, signal);
    return { id: String(id), seconds: ttl };
  }

  async keepAlive(lease: LeaseId, { signal }: CallOptions = {}): Promise<Lease> {
    const { ttl } = await this.#client.call(KEEP_ALIVE, { id: leaseNumber(lease) }, signal);
    if (ttl <= 0) throw leaseGone(lease);
    return { id: lease, seconds: ttl };
  }

  async revokeLease(lease: LeaseId, { signal }: CallOptions = {}): Promise<void> {
    await this.#client.call(REVOKE, { id: leaseNumber(lease) }, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new StoreError('STORE_UNAVAILABLE', 'the store is closed'));
    this.#client.close();
  }
}

/** In etcd, NUL stands for both the first key and the end of all keys. */
function rangeOf(prefix: string) {
  return { key: prefix === '' ? '\0' : prefix, rangeEnd: endOf(prefix) ?? '\0' };
}

interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  readonly lease: bigint;
}

function toEntry({ key, value, createRevision, modRevision, lease }: KeyValue): Entry {
  const bound = lease === 0n ? {} : { lease: String(lease) };
  return { key, value, created: createRevision, revision: modRevision, ...bound };
}

function toOperation(change: Change) {
  if ('delete' in change) return { deleteRange: { key: change.delete } };
  const { put: key, value, lease } = change;
  return { put: { key, value, ...(lease !== undefined && { lease: leaseNumber(lease) }) } };
}

function toEvent({ type, kv }: { readonly type: number; readonly kv: KeyValue | undefined }): WatchEvent {
  if (kv === undefined) throw new StoreError('STORE_CORRUPT', 'etcd told of a change without its key');
  const { key, modRevision: revision } = kv;
  return type === EVENT_DELETE ? { kind: 'delete', key, revision } : { kind: 'put', key, entry: toEntry(kv) };
}

function toBatches(events: readonly WatchEvent[]): readonly WatchBatch[] {
  const byRevision = Map.groupBy(events, (event) =>
    event.kind === 'put' ? event.entry.revision : event.revision,
  );
  return [...byRevision].map(([revision, ofOne]) => ({ revision, events: ofOne }));
}

function leaseNumber(lease: LeaseId): bigint {
  if (!/^-?[0-9]{1,19}$/.test(lease)) throw leaseGone(lease);
  return BigInt(lease);
}

function cancelled(prefix: string, endpoint: string, why: string): StoreError {
  const code = /permission|auth/.test(why) ? 'STORE_UNAUTHORISED' : 'STORE_UNAVAILABLE';
  return new StoreError(code, `watch ${prefix}: etcd at ${endpoint}: ${why}`);
}
