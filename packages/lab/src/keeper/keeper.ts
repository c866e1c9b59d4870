/**
 * The process that a lab lives in. It is process 1 of a process namespace of its own: when it ends, in whatever way, the
 * kernel ends everything that runs in the lab, and with the last process and descriptor the namespaces are gone.
 */
import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { HeddleError } from '@heddle/errors';
import { enterPrivateMounts, makeDirectory, mountProc, mountTmpfs, unmount } from '@heddle/sys';
import { Lab } from '../lab.ts';
import type { ResolvedLabSpec } from '../spec.ts';
import { answersOf } from './answers.ts';
import { labPlaces } from './places.ts';
import type { AnswerMessage, FailureMessage, RequestMessage, RequestName, StartMessage } from './protocol.ts';
import { startReaper } from './reaper.ts';

/** What a keeper reads from stdin first, as a line of JSON. */
export interface KeeperOrder {
  readonly name: string;
  /** Where labs are. */
  readonly directory: string;
  readonly spec: ResolvedLabSpec;
  /** The `heddle` command and what goes before its arguments. */
  readonly program: readonly string[];
  /** Whether the lab ends with stdin. */
  readonly owned: boolean;
}

/** What a keeper is given. */
export interface KeeperOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Calls back when it is told to end by a signal. */
  readonly onSignal: (end: () => void) => void;
}

/** Makes the lab that stdin asks for, says on stdout how it goes, and serves until it is told to end. */
export async function keepLab({ stdin, stdout, env, onSignal }: KeeperOptions): Promise<void> {
  const ended = Promise.withResolvers<void>();
  onSignal(ended.resolve);
  const say = (message: StartMessage) => void stdout.write(`${JSON.stringify(message)}\n`);
  let isReady = false;
  const order = await readOrder(stdin, ({ owned }) => {
    // As long as it is being made, a lab is of whoever has it made.
    if (owned || !isReady) ended.resolve();
  });
  const places = labPlaces(order.directory, order.name);
  let isMounted = false;
  try {
    enterPrivateMounts();
    makeDirectory(places.shared, 0o700);
    mountTmpfs(places.shared, { mode: 0o700 });
    isMounted = true;
    mountProc('/proc');
    using _reaper = startReaper();
    const own = {
      PATH: env['PATH'] ?? DEFAULT_PATH,
      HOME: env['HOME'] ?? '/root',
      TERM: env['TERM'] ?? 'linux',
    };
    await using lab = await Promise.race([
      Lab.make(order.spec, {
        ...{ program: order.program, shared: places.shared, env: own },
        tell: (done) => say({ done }),
      }),
      ended.promise.then(() => Promise.reject(new Error('told to end before the lab was there'))),
    ]);
    using server = await serve(places.socket, answersOf(lab, own, ended.resolve));
    isReady = true;
    say({ ready: true });
    await ended.promise;
    server.close();
  } catch (error) {
    say({ failure: failureOf(error) });
    throw error;
  } finally {
    if (isMounted) unmount(places.shared);
    rmSync(places.directory, { recursive: true, force: true });
  }
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

async function readOrder(stdin: Readable, onEnd: (order: KeeperOrder) => void): Promise<KeeperOrder> {
  const lines = createInterface({ input: stdin });
  const { promise, resolve, reject } = Promise.withResolvers<KeeperOrder>();
  lines.once('line', (line) => {
    const order = JSON.parse(line) as KeeperOrder;
    lines.once('close', () => onEnd(order));
    resolve(order);
  });
  lines.once('close', () => reject(new Error('nobody said what lab to make')));
  return await promise;
}

type Ask = (takes: never) => unknown;

async function serve(
  socket: string,
  answers: Readonly<Record<RequestName, Ask>>,
): Promise<Server & Disposable> {
  const server = createServer({ allowHalfOpen: true }, (client) => void answer(client, answers));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(socket, resolve);
  await promise;
  return Object.assign(server, { [Symbol.dispose]: () => void server.close() });
}

async function answer(client: Socket, answers: Readonly<Record<RequestName, Ask>>): Promise<void> {
  client.on('error', () => client.destroy());
  const lines = createInterface({ input: client });
  lines.on('error', () => client.destroy());
  lines.once('line', async (line) => {
    client.end(`${JSON.stringify(await answerTo(line, answers))}\n`);
  });
}

async function answerTo(line: string, answers: Readonly<Record<RequestName, Ask>>): Promise<AnswerMessage> {
  try {
    const { request, takes } = JSON.parse(line) as RequestMessage;
    if (!Object.hasOwn(answers, request)) throw new TypeError(`there is no request ${request}`);
    return { gives: await answers[request](takes as never) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

function failureOf(error: unknown): FailureMessage {
  if (error instanceof HeddleError) return { code: error.code, message: error.message, hint: error.hint };
  return {
    code: 'LAB_FAILED',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}
