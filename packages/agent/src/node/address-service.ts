/** The node's door for plugins in other processes: one question a connection, for root only. */
import { createServer, type Socket } from 'node:net';
import { HeddleError } from '@heddle/errors';
import {
  type ClusterAddresses,
  ClusterError,
  LONGEST_QUESTION,
  ownPlace,
  questionSchema,
  type ReadQuestion,
} from '@heddle/ipam/cluster';
import * as v from 'valibot';
import { listenAtPath } from '../listen-at-path.ts';
import { NodeError } from './node-error.ts';

/** What the service needs. */
export interface AddressServiceOptions {
  readonly path: string;
  readonly addresses: ClusterAddresses;
  /** Told of what is nobody's fault but ours. */
  readonly onFailure: (error: unknown) => void;
  /** How long a question may take to arrive, in milliseconds; 10,000 by default. */
  readonly patience?: number;
  /** How many may be served at a time; others wait in the socket's queue. 256 by default. */
  readonly clients?: number;
}

/** A service that runs. Its disposal takes nobody in any more, and ends when all were answered. */
export interface AddressService extends AsyncDisposable {
  readonly path: string;
}

/**
 * Serves at a path, in the place of whoever did before.
 *
 * @throws {NodeError} NODE_SOCKET when it cannot listen there
 */
export async function serveAddresses(options: AddressServiceOptions): Promise<AddressService> {
  const { path, clients = 256 } = options;
  const place = ownPlace();
  const server = createServer({ allowHalfOpen: true }, (socket) => converse(socket, place, options));
  server.maxConnections = clients;
  const socket = await listenAtPath(server, path).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new NodeError('NODE_SOCKET', `listen at ${path}: ${why}`, { cause });
  });
  server.on('error', options.onFailure);
  return {
    path,
    async [Symbol.asyncDispose]() {
      socket[Symbol.dispose]();
      await new Promise((closed) => server.close(closed));
    },
  };
}

type Place = ReadQuestion['from'];

function converse(socket: Socket, place: Place, options: AddressServiceOptions): void {
  const { patience = 10_000 } = options;
  let text = '';
  const tooLate = setTimeout(() => socket.destroy(), patience);
  const onData = (portion: string) => {
    text += portion;
    const end = text.indexOf('\n');
    if (end < 0 && text.length <= LONGEST_QUESTION) return;
    clearTimeout(tooLate);
    socket.off('data', onData).resume();
    void answer(end < 0 ? '' : text.slice(0, end), place, options).then((reply) => {
      socket.end(`${reply}\n`);
      // Who does not take the answer is not waited for.
      socket.setTimeout(patience, () => socket.destroy());
    });
  };
  socket.setEncoding('utf8').on('data', onData);
  // Who hangs up in the middle has done so; what was taken for it, its own undo or the runtime's DEL gives back.
  socket.on('error', () => socket.destroy());
  socket.on('close', () => clearTimeout(tooLate));
  socket.on('end', () => {
    if (!text.includes('\n')) socket.destroy();
  });
}

async function answer(line: string, place: Place, options: AddressServiceOptions): Promise<string> {
  try {
    const question = readQuestion(line);
    if (question.from.network !== place.network) {
      throw new ClusterError(
        'CLUSTER_ELSEWHERE',
        'the caller lives in another network namespace than the node',
        {
          hint: 'pods of this node are attached from its own network namespace',
        },
      );
    }
    return JSON.stringify({ answer: (await ask(question, place, options.addresses)) ?? null });
  } catch (error) {
    if (!(error instanceof HeddleError)) options.onFailure(error);
    return JSON.stringify({ error: refusal(error) });
  }
}

function readQuestion(line: string): ReadQuestion {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new ClusterError('CLUSTER_PROTOCOL', 'the question is no line of JSON', { cause });
  }
  const result = v.safeParse(questionSchema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const place = v.getDotPath(issue);
  const where = place === null ? '' : `; at ${place}`;
  throw new ClusterError(
    'CLUSTER_PROTOCOL',
    `the node does not understand the question: ${issue.message}${where}`,
  );
}

function ask(question: ReadQuestion, place: Place, addresses: ClusterAddresses): Promise<unknown> {
  switch (question.ask) {
    case 'take': {
      const { ask: _, from, attachment, sandbox, ...rest } = question;
      // A path says something only to who sees the same files.
      const isOpenable = sandbox !== undefined && from.mounts === place.mounts;
      return addresses.take({ ...attachment, ...rest, ...(isOpenable && { sandbox }) });
    }
    case 'give':
      return addresses.give(question.attachment, question.at);
    case 'held':
      return addresses.held(question.attachment);
    case 'list':
      return addresses.list(question.network);
    case 'status':
      return addresses.status(question.room);
  }
}

function refusal(error: unknown): object {
  if (error instanceof HeddleError) {
    const { code, message, hint } = error;
    return { code, message, ...(hint !== undefined && { hint }) };
  }
  return { code: 'CLUSTER_NODE_FAILED', message: error instanceof Error ? error.message : String(error) };
}
