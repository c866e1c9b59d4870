/** One client: its request in, the answer out, and an eye on whether it is still there. */
import { type Answer, encodeAnswer } from '@heddle/cni/runtime';
import { type Fd, MSG, peerCredentials, recv, watch } from '@heddle/sys';
import { AgentError } from './agent-error.ts';
import { type Request, type RequestLimits, receiveRequest } from './request.ts';
import { sendAll } from './send.ts';

/** Does what is asked. Must not throw. */
export type Handler = (request: Request, caller: AbortSignal) => Promise<Answer>;

/**
 * Serves one client and closes its connection.
 *
 * @throws {HeddleError} when there is nobody to serve: not root, or no request that makes sense
 */
export async function converse(client: Fd, limits: RequestLimits, handle: Handler): Promise<void> {
  using _connection = client;
  const { uid } = peerCredentials(client);
  if (uid !== 0) throw new AgentError('AGENT_CLIENT', `serve a client: user ${uid} is not root`);
  let answer: Answer;
  {
    // Before the answer is out, no descriptor of the pod's namespace may be left here.
    using request = await receiveRequest(client, limits);
    limits.visit.hasAsked();
    using caller = new Caller(client);
    answer = await handle(request, caller.signal);
  }
  await sendAll(client, encodeAnswer(answer), limits.patience);
}

/** Aborts a signal when the client hangs up. It has nothing more to say, so whatever comes is taken as its end. */
class Caller implements Disposable {
  readonly #controller = new AbortController();
  readonly #watching: Disposable;

  constructor(client: Fd) {
    this.#watching = watch(client, () => {
      this.#watching[Symbol.dispose]();
      this.#controller.abort(
        new AgentError('AGENT_CALLER_GONE', 'the caller has gone and does not wait for the answer'),
      );
    });
    // What has happened already is not told by an event that is still to be delivered.
    if (hasGone(client)) this.#controller.abort(new AgentError('AGENT_CALLER_GONE', 'the caller has gone'));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    this.#watching[Symbol.dispose]();
  }
}

function hasGone(client: Fd): boolean {
  return recv(client, 1, MSG.PEEK | MSG.DONTWAIT) !== undefined;
}
