/** One request on its way in: bytes in any portions, and the descriptors that came along. */
import { HANDOVER_HEADER_SIZE, type Handover, readHandover, readHandoverHeader } from '@heddle/cni/runtime';
import { type Fd, recvDescriptors, watch } from '@heddle/sys';
import { AgentError } from './agent-error.ts';
import type { Budget } from './budget.ts';
import type { Visit } from './reception.ts';

/** A call and the namespaces that its caller sent. Closing them is up to whoever gets it. */
export interface Request extends Disposable {
  readonly call: Handover;
  /** The caller's own network and mount namespaces, and what CNI_NETNS names, where that could be opened. */
  readonly descriptors: readonly Fd[];
}

/** What bounds a request. */
export interface RequestLimits {
  readonly budget: Budget;
  /** Milliseconds in which all of it must come. */
  readonly patience: number;
  readonly visit: Visit;
}

/**
 * Receives a request from a client.
 *
 * @throws {AgentError} AGENT_CLIENT when it ends, stalls, or does not fit
 * @throws {HandoverError} when it is none
 */
export async function receiveRequest(client: Fd, limits: RequestLimits): Promise<Request> {
  using incoming = new Incoming(client, limits.budget);
  return incoming.take() ?? (await waitFor(client, incoming, limits));
}

function waitFor(client: Fd, incoming: Incoming, { patience, visit }: RequestLimits): Promise<Request> {
  const { promise, resolve, reject } = Promise.withResolvers<Request>();
  const watching = watch(client, () => {
    try {
      const request = incoming.take();
      if (request !== undefined) resolve(request);
    } catch (error) {
      reject(error);
    }
  });
  const timer = setTimeout(
    () => reject(new AgentError('AGENT_CLIENT', `receive a request: it did not come in ${patience} ms`)),
    patience,
  );
  const leave = () => reject(visit.dismissed.reason);
  visit.dismissed.addEventListener('abort', leave, { once: true });
  return promise.finally(() => {
    visit.dismissed.removeEventListener('abort', leave);
    clearTimeout(timer);
    watching[Symbol.dispose]();
  });
}

/** So that a client that sends much does not keep the others waiting. */
const PORTIONS_AT_ONCE = 8;
/** Hardly a request is larger; room for more than this costs malloc its caches. */
const PORTION = 32 * 1024;

class Incoming implements Disposable {
  readonly #client: Fd;
  readonly #budget: Budget;
  #portions: Uint8Array[] = [];
  #descriptors: Fd[] = [];
  #size = 0;
  #header: ReturnType<typeof readHandoverHeader> | undefined;
  #whole: number | undefined;

  constructor(client: Fd, budget: Budget) {
    this.#client = client;
    this.#budget = budget;
  }

  /** Takes what has come; the request, when that is all of it. */
  take(): Request | undefined {
    for (let portion = 0; portion < PORTIONS_AT_ONCE; portion++) {
      const received = recvDescriptors(this.#client, PORTION);
      if (received === undefined) return undefined;
      const { bytes, descriptors } = received;
      this.#descriptors.push(...descriptors);
      if (bytes.length === 0) throw new AgentError('AGENT_CLIENT', 'receive a request: the client has gone');
      if (!this.#budget.take(bytes.length)) {
        throw new AgentError('AGENT_CLIENT', 'receive a request: there are too many large ones');
      }
      this.#portions.push(bytes);
      this.#size += bytes.length;
      if (this.#isWhole()) return this.#finish();
    }
    return undefined;
  }

  [Symbol.dispose](): void {
    this.#budget.give(this.#size);
    for (const fd of this.#descriptors) fd.close();
  }

  #isWhole(): boolean {
    if (this.#whole === undefined && this.#size >= HANDOVER_HEADER_SIZE) {
      this.#header = readHandoverHeader(this.#joined());
      this.#whole = HANDOVER_HEADER_SIZE + this.#header.head + this.#header.stdin;
    }
    return this.#whole !== undefined && this.#size >= this.#whole;
  }

  #finish(): Request {
    const call = readHandover(this.#joined(), this.#header);
    const descriptors = this.#descriptors;
    this.#descriptors = [];
    return {
      ...{ call, descriptors },
      [Symbol.dispose]() {
        for (const fd of descriptors) fd.close();
      },
    };
  }

  #joined(): Uint8Array {
    const [first, ...more] = this.#portions;
    if (first === undefined || more.length > 0) this.#portions = [Buffer.concat(this.#portions)];
    return this.#portions[0] as Uint8Array;
  }
}
