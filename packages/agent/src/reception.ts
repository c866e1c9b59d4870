/**
 * Takes callers in at the door, so many at a time; the others wait outside. Whoever is in and does not say what it wants
 * has to make room for those.
 */
import { accept, type Fd, SysError, watch } from '@heddle/sys';
import { AgentError } from './agent-error.ts';
import type { Door } from './door.ts';

/** What the one who serves a client shares with the reception. */
export interface Visit {
  /** Aborted when the client has to leave. */
  readonly dismissed: AbortSignal;
  /** To be called when the client has said what it wants: it may stay until it is served. */
  hasAsked(): void;
}

/** How many are taken in, and how long they may be silent. */
export interface ReceptionOptions {
  readonly door: Door;
  /** Clients at a time. */
  readonly most: number;
  /** Milliseconds after which a client that has not asked has to leave, if others wait. */
  readonly grace: number;
  /** Serves a client to the end and closes it; must not throw. */
  readonly serve: (client: Fd, visit: Visit) => Promise<void>;
}

/** One who has not said what it wants. Most do at once, and nobody ever asks for their signal. */
class Silent implements Visit {
  readonly since = performance.now();
  readonly #onAsked: (silent: Silent) => void;
  #controller: AbortController | undefined;
  #reason: AgentError | undefined;

  constructor(onAsked: (silent: Silent) => void) {
    this.#onAsked = onAsked;
  }

  get dismissed(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  get isDismissed(): boolean {
    return this.#reason !== undefined;
  }

  hasAsked(): void {
    this.#onAsked(this);
  }

  dismiss(reason: AgentError): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/** See the file's comment. */
export class Reception {
  readonly #options: ReceptionOptions;
  /** Those who have not asked, first the one that came first. */
  readonly #silent = new Set<Silent>();
  #watching: Disposable | undefined;
  #timer: NodeJS.Timeout | undefined;
  #present = 0;
  /** Of those who are present, how many were told to leave. */
  #leaving = 0;
  #closing: PromiseWithResolvers<void> | undefined;

  constructor(options: ReceptionOptions) {
    this.#options = options;
  }

  /** How many are being served. */
  get present(): number {
    return this.#present;
  }

  /** Lets callers in from now on. */
  open(): void {
    this.#options.door.open();
    this.#listen();
  }

  /** Takes in those who have come already, and nobody else. Ends when all of them are served. */
  async close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = Promise.withResolvers();
      this.#options.door.hide();
      this.#letIn();
      this.#leave();
    }
    await this.#closing.promise;
  }

  #listen(): void {
    this.#watching ??= watch(this.#options.door.listener, () => this.#letIn());
  }

  #letIn(): void {
    while (this.#hasRoom() || this.#untilRoom() <= 0) {
      const client = nextAt(this.#options.door.listener);
      if (client === undefined) return;
      if (!this.#hasRoom()) this.#dismiss();
      this.#takeIn(client);
    }
    // Whoever comes now waits, without our being told of it all the time.
    this.#watching?.[Symbol.dispose]();
    this.#watching = undefined;
    if (this.#silent.size > 0) this.#timer ??= setTimeout(() => this.#lookAgain(), this.#untilRoom());
  }

  #takeIn(client: Fd): void {
    const silent = new Silent((asked) => this.#silent.delete(asked));
    this.#silent.add(silent);
    this.#present++;
    void this.#options.serve(client, silent).finally(() => {
      this.#silent.delete(silent);
      this.#present--;
      if (silent.isDismissed) this.#leaving--;
      this.#leave();
    });
  }

  #hasRoom(): boolean {
    return this.#present - this.#leaving < this.#options.most;
  }

  /** Milliseconds until somebody can be dismissed. */
  #untilRoom(): number {
    const [first] = this.#silent;
    if (first === undefined) return Number.POSITIVE_INFINITY;
    return first.since + this.#options.grace - performance.now();
  }

  #dismiss(): void {
    const [first] = this.#silent;
    if (first === undefined) return;
    this.#silent.delete(first);
    this.#leaving++;
    first.dismiss(
      new AgentError('AGENT_CLIENT', 'receive a request: it did not come, and others wait for the place'),
    );
  }

  #lookAgain(): void {
    this.#timer = undefined;
    if (this.#closing === undefined) this.#listen();
    this.#letIn();
  }

  /** One has left, or the door is to be closed. */
  #leave(): void {
    if (this.#closing === undefined) {
      this.#listen();
      return;
    }
    this.#letIn();
    if (this.#present > 0) return;
    clearTimeout(this.#timer);
    this.#watching?.[Symbol.dispose]();
    this.#watching = undefined;
    this.#options.door[Symbol.dispose]();
    this.#closing.resolve();
  }
}

/** A connection that was given up while it waited is none; without descriptors left it has to wait. */
function nextAt(listener: Fd): Fd | undefined {
  if (listener.closed) return undefined;
  try {
    return accept(listener, { nonblocking: true });
  } catch (error) {
    if (SysError.is(error, 'ECONNABORTED', 'EMFILE', 'ENFILE', 'ENOMEM')) return undefined;
    throw error;
  }
}
