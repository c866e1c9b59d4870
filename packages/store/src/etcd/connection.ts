/** The connection to one of several servers: made when needed, dropped when it is dead, then to the next one. */
import type { ClientHttp2Session, SecureClientSessionOptions } from 'node:http2';
import { type CallTarget, type GrpcCall, GrpcFailure, openCall, STATUS } from './grpc-call.ts';

/** How long a connection may take to be made, and a ping to be answered; milliseconds. */
const PATIENCE = 5000;
/** etcd takes pings more often than every five seconds for an attack. */
const PING_EVERY = 10_000;

/** See the file's comment. */
export class Connection {
  readonly #endpoints: readonly URL[];
  readonly #tls: SecureClientSessionOptions;
  #current = 0;
  #session: Promise<Session> | undefined;

  constructor(endpoints: readonly URL[], tls: SecureClientSessionOptions) {
    this.#endpoints = endpoints;
    this.#tls = tls;
  }

  /** How many servers there are to try. */
  get count(): number {
    return this.#endpoints.length;
  }

  /** The server that calls go to. */
  get endpoint(): string {
    return this.#url.origin;
  }

  /** Begins a call. @throws {GrpcFailure} not sent, when there is no connection to be had within the limit */
  async open(target: CallTarget, limit: AbortSignal): Promise<GrpcCall> {
    this.#session ??= this.#connect();
    const late = Promise.withResolvers<never>();
    const stop = () => late.reject(new Error('no connection in time'));
    limit.addEventListener('abort', stop, { once: true });
    try {
      limit.throwIfAborted();
      const session = await Promise.race([this.#session, late.promise]);
      return session.open(target);
    } catch (error) {
      throw notConnected(this.endpoint, error);
    } finally {
      limit.removeEventListener('abort', stop);
    }
  }

  /** Lets the next call go to the next server, unless somebody moved on already. */
  moveOn(from: string): void {
    if (from !== this.endpoint) return;
    this.#drop();
    this.#current = (this.#current + 1) % this.#endpoints.length;
  }

  close(): void {
    this.#drop();
  }

  get #url(): URL {
    const url = this.#endpoints[this.#current];
    if (url === undefined) throw new TypeError('a connection needs an endpoint');
    return url;
  }

  #drop(): void {
    const session = this.#session;
    this.#session = undefined;
    session?.then((each) => each.destroy()).catch(() => {});
  }

  #connect(): Promise<Session> {
    const url = this.#url;
    const { promise, resolve, reject } = Promise.withResolvers<Session>();
    const forget = () => {
      if (this.#session === promise) this.#session = undefined;
    };
    const begin = async () => {
      // Loaded only where it is wanted: it costs memory.
      const { connect } = await import('node:http2');
      const session = connect(url, this.#tls);
      const patience = setTimeout(() => session.destroy(new Error('no connection in time')), PATIENCE);
      session.once('connect', () => {
        clearTimeout(patience);
        resolve(new Session(session));
      });
      session.on('error', (error) => reject(notConnected(url.origin, error)));
      session.on('goaway', forget);
      session.on('close', () => {
        clearTimeout(patience);
        forget();
        reject(notConnected(url.origin, new Error('the connection was closed')));
      });
    };
    begin().catch((error: unknown) => {
      forget();
      reject(notConnected(url.origin, error));
    });
    return promise;
  }
}

/** A connection that is made. While calls are under way it is pinged: a peer that is gone says nothing. */
class Session {
  readonly #session: ClientHttp2Session;
  #calls = 0;
  #pings: NodeJS.Timeout | undefined;

  constructor(session: ClientHttp2Session) {
    this.#session = session;
    session.on('close', () => clearInterval(this.#pings));
  }

  open(target: CallTarget): GrpcCall {
    const call = openCall(this.#session, target, () => this.#ended());
    if (++this.#calls === 1) this.#pings = setInterval(() => this.#ping(), PING_EVERY);
    return call;
  }

  destroy(): void {
    this.#session.destroy();
  }

  #ended(): void {
    if (--this.#calls === 0) clearInterval(this.#pings);
  }

  #ping(): void {
    const late = setTimeout(() => this.#session.destroy(new Error('a ping was not answered')), PATIENCE);
    const answered = this.#session.ping((error) => {
      clearTimeout(late);
      if (error !== null) this.#session.destroy(error);
    });
    if (!answered) clearTimeout(late);
  }
}

function notConnected(endpoint: string, error: unknown): GrpcFailure {
  if (error instanceof GrpcFailure) return error;
  const reason = error instanceof Error ? error.message || String((error as { code?: unknown }).code) : error;
  return new GrpcFailure(STATUS.UNAVAILABLE, `connect to ${endpoint}: ${reason}`, false, error);
}
