/** Asking the node something over its socket. */
import { connect } from 'node:net';
import * as v from 'valibot';
import { ClusterError, NodeRefusal } from './cluster-error.ts';
import { type Answer, answerSchemas, LONGEST_ANSWER, type Question, refusalSchema } from './protocol.ts';

/**
 * Asks, and waits for the answer.
 *
 * @param patience how long nothing may come, in milliseconds
 * @throws {ClusterError} CLUSTER_NODE_ABSENT when nobody answers there, CLUSTER_PROTOCOL when somebody else does
 * @throws {NodeRefusal} with the node's own words and code
 */
export async function askNode<Q extends Question>(
  socketPath: string,
  question: Q,
  patience: number,
): Promise<Answer<Q['ask']>> {
  const text = await converse(socketPath, `${JSON.stringify(question)}\n`, patience);
  const reply = parse(text);
  if (v.is(refusalSchema, reply)) {
    const { code, message, hint } = reply.error;
    throw new NodeRefusal(code, message, hint === undefined ? {} : { hint });
  }
  const result = v.safeParse(v.object({ answer: answerSchemas[question.ask] }), reply);
  if (result.success) return result.output.answer as Answer<Q['ask']>;
  if (text === '' || !text.endsWith('\n')) throw absent(socketPath, 'it hung up without an answer');
  throw new ClusterError(
    'CLUSTER_PROTOCOL',
    `who listens on ${socketPath} is not Heddle's agent of this node`,
    {
      hint: 'the plugin and the agent must be of one release; restart the agent after an upgrade',
    },
  );
}

/** Writes one text and reads what comes back to its end. */
function converse(socketPath: string, text: string, patience: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(socketPath);
  const portions: string[] = [];
  let size = 0;
  const giveUp = (error: ClusterError) => {
    reject(error);
    socket.destroy();
  };
  socket.setEncoding('utf8');
  socket.setTimeout(patience, () => giveUp(absent(socketPath, `it did not answer in ${patience / 1000} s`)));
  socket.on('connect', () => socket.write(text));
  socket.on('data', (portion: string) => {
    portions.push(portion);
    size += portion.length;
    if (size > LONGEST_ANSWER) {
      giveUp(new ClusterError('CLUSTER_PROTOCOL', `the answer on ${socketPath} has no end`));
    }
  });
  socket.on('error', (error: NodeJS.ErrnoException) =>
    giveUp(absent(socketPath, error.code ?? error.message, error)),
  );
  socket.on('close', () => resolve(portions.join('')));
  return promise;
}

function absent(socketPath: string, why: string, cause?: unknown): ClusterError {
  return new ClusterError('CLUSTER_NODE_ABSENT', `no node of a cluster answers on ${socketPath}: ${why}`, {
    cause,
    hint: 'start it with `heddle up`; `heddle agent status` says how it is',
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
