/** Calls to a cluster: with credentials, with a time limit, and to another member when one cannot be reached. */
import { type Codec, decode, encode } from '@heddle/wire';
import { StoreError } from '../store-error.ts';
import type { Connection } from './connection.ts';
import { fromGrpc } from './etcd-error.ts';
import { type GrpcCall, GrpcFailure, STATUS } from './grpc-call.ts';
import { authenticateRequest, authenticateResponse } from './messages.ts';

/** One method of etcd's API. */
export interface Method<Req, Res> {
  readonly path: string;
  /** For errors, such as `list`. */
  readonly what: string;
  readonly request: Codec<unknown, Req>;
  readonly response: Codec<Res, never>;
  /** Whether it changes something, so that it must not be done twice. */
  readonly changes: boolean;
}

/** Who asks. */
export interface Credentials {
  readonly name: string;
  readonly password: string;
}

/** A stream of messages from a member. */
export interface Stream<Res> {
  readonly endpoint: string;
  readonly messages: AsyncIterable<Res>;
  cancel(): void;
}

/** See the file's comment. */
export class EtcdClient {
  readonly #connection: Connection;
  readonly #credentials: Credentials | undefined;
  readonly #timeout: number;
  #token: Promise<string> | undefined;
  #closed = false;

  constructor(connection: Connection, credentials: Credentials | undefined, timeout: number) {
    this.#connection = connection;
    this.#credentials = credentials;
    this.#timeout = timeout;
  }

  /** Asks and gets one answer. @throws {StoreError} or the signal's reason */
  async call<Req, Res>(method: Method<Req, Res>, request: Req, signal?: AbortSignal): Promise<Res> {
    return this.#failOver(method, signal, async (limit) => {
      const call = await this.#open(method, request, limit);
      call.end();
      return this.#first(method, call, limit);
    });
  }

  /** Asks and gets answers until it is cancelled. @throws {StoreError} when it cannot be opened at any member */
  async stream<Req, Res>(method: Method<Req, Res>, request: Req, signal?: AbortSignal): Promise<Stream<Res>> {
    return this.#failOver(method, signal, async (limit) => {
      const call = await this.#open(method, request, limit);
      return { endpoint: this.#connection.endpoint, messages: this.#all(method, call), cancel: call.cancel };
    });
  }

  close(): void {
    this.#closed = true;
    this.#connection.close();
  }

  /** One attempt with every member, as long as nothing can have been changed by the one before. */
  async #failOver<T>(
    method: Method<never, unknown>,
    signal: AbortSignal | undefined,
    attempt: (limit: AbortSignal) => Promise<T>,
  ): Promise<T> {
    let renewed = false;
    for (let left = this.#connection.count; ; ) {
      this.#check(signal);
      const { endpoint } = this.#connection;
      using limit = limited(this.#timeout, signal);
      try {
        return await attempt(limit.signal);
      } catch (error) {
        this.#check(signal);
        if (!(error instanceof GrpcFailure)) throw error;
        if (this.#isTokenStale(error) && !renewed) {
          renewed = true;
          this.#token = undefined;
          continue;
        }
        const failed = fromGrpc(method.what, endpoint, error, method.changes);
        if (failed.code !== 'STORE_UNAVAILABLE') throw failed;
        this.#connection.moveOn(endpoint);
        if (failed.mayHaveHappened || --left <= 0) throw failed;
      }
    }
  }

  #check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new StoreError('STORE_UNAVAILABLE', 'the store is closed');
  }

  #isTokenStale({ status, message }: GrpcFailure): boolean {
    if (this.#credentials === undefined) return false;
    return status === STATUS.UNAUTHENTICATED || /invalid auth token|revision in auth/.test(message);
  }

  async #open<Req>(method: Method<Req, unknown>, request: Req, limit: AbortSignal): Promise<GrpcCall> {
    // A member that the others cannot reach must not answer as if it were the cluster.
    const metadata: Record<string, string> = { hasleader: 'true' };
    if (this.#credentials !== undefined)
      metadata['token'] = await this.#authenticate(this.#credentials, limit);
    const call = await this.#connection.open({ path: method.path, metadata }, limit);
    call.send(encode(method.request as Codec<unknown, Req>, request));
    return call;
  }

  #authenticate(credentials: Credentials, limit: AbortSignal): Promise<string> {
    const token = this.#token ?? this.#askForToken(credentials, limit);
    this.#token = token;
    token.catch(() => {
      if (this.#token === token) this.#token = undefined;
    });
    return token;
  }

  async #askForToken(credentials: Credentials, limit: AbortSignal): Promise<string> {
    const call = await this.#connection.open({ path: AUTHENTICATE.path, metadata: {} }, limit);
    call.send(encode(authenticateRequest, credentials));
    call.end();
    try {
      return (await this.#first(AUTHENTICATE, call, limit)).token;
    } catch (error) {
      if (error instanceof GrpcFailure && error.status === STATUS.FAILED_PRECONDITION) return '';
      // Whatever comes of it, nothing was changed.
      if (error instanceof GrpcFailure)
        throw new GrpcFailure(error.status, error.message, false, error.cause);
      throw error;
    }
  }

  async #first<Res>(method: Method<never, Res>, call: GrpcCall, limit: AbortSignal): Promise<Res> {
    const stop = () => call.cancel();
    limit.addEventListener('abort', stop, { once: true });
    try {
      let answer: Res | undefined;
      for await (const message of call.receive()) {
        answer = decode(method.response, message);
      }
      if (answer !== undefined) return answer;
      throw new GrpcFailure(STATUS.UNAVAILABLE, 'there was no answer', true);
    } catch (error) {
      if (!limit.aborted) throw error;
      throw new GrpcFailure(STATUS.DEADLINE_EXCEEDED, `no answer in ${this.#timeout} ms`, true, error);
    } finally {
      limit.removeEventListener('abort', stop);
    }
  }

  async *#all<Res>(method: Method<never, Res>, call: GrpcCall): AsyncGenerator<Res, void> {
    const { endpoint } = this.#connection;
    try {
      for await (const message of call.receive()) yield decode(method.response, message);
    } catch (error) {
      if (!(error instanceof GrpcFailure)) throw error;
      this.#connection.moveOn(endpoint);
      throw fromGrpc(method.what, endpoint, error, false);
    } finally {
      call.cancel();
    }
  }
}

const AUTHENTICATE = {
  path: '/etcdserverpb.Auth/Authenticate',
  what: 'authenticate',
  request: authenticateRequest,
  response: authenticateResponse,
  changes: false,
};

/** A signal that aborts after so long, or with another one. */
function limited(
  milliseconds: number,
  signal: AbortSignal | undefined,
): { signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, milliseconds);
  signal?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}
