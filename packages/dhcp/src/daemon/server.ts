/** The daemon's door: reads one question a connection, and answers it. */
import { createServer, type Server, type Socket } from 'node:net';
import { HeddleError } from '@heddle/errors';
import * as v from 'valibot';
import { DhcpError } from '../dhcp-error.ts';
import type { LeaseTable } from '../leases/lease-table.ts';
import { GO_GREETING, GO_REFUSAL, LONGEST_QUESTION, questionSchema } from '../protocol.ts';

/** What the server stands on. */
export interface DaemonServerOptions {
  /** The leases; questions wait until they are there. */
  readonly table: Promise<LeaseTable>;
  /** Goes in front of the paths of namespaces. */
  readonly hostPrefix: string;
  readonly log: (message: string) => void;
  /** How long a question may take to arrive, in milliseconds; {@link QUESTION_TIME} unless told otherwise. */
  readonly questionTime?: number;
}

/** Plugins send their question at once. */
const QUESTION_TIME = 10_000;

/** The server, which does not listen yet. */
export function daemonServer(options: DaemonServerOptions): Server {
  const { table, hostPrefix, log, questionTime = QUESTION_TIME } = options;
  return createServer((socket) => {
    const hungUp = new AbortController();
    socket.on('close', () =>
      hungUp.abort(new DhcpError('DHCP_NO_ANSWER', 'nobody waits for the lease any more')),
    );
    // Whoever hangs up in the middle is done with us; 'close' follows.
    socket.on('error', () => {});
    readLine(socket, questionTime, async (line) => {
      if (line.startsWith(GO_GREETING)) {
        log("a plugin of the reference wants to speak Go's RPC: it needs the reference's daemon");
        socket.end(GO_REFUSAL);
        return;
      }
      socket.end(`${JSON.stringify(await reply(line, await table, hostPrefix, hungUp.signal, log))}\n`);
    });
  });
}

/** Hands on the first line, once. Whoever has not sent one in time is told so, and let go. */
function readLine(socket: Socket, time: number, use: (line: string) => void): void {
  let text = '';
  const tooLate = setTimeout(() => {
    stopReading();
    const late = new DhcpError('DHCP_REQUEST_INVALID', `no question came within ${time} ms`);
    socket.end(`${JSON.stringify(refusal(late))}\n`, () => socket.destroy());
  }, time);
  const stopReading = () => {
    clearTimeout(tooLate);
    socket.off('data', onData);
  };
  const onData = (chunk: string) => {
    text += chunk;
    const end = text.indexOf('\n');
    if (end < 0 && text.length < LONGEST_QUESTION) return;
    stopReading();
    // Goes on reading, to notice when the other side hangs up.
    socket.resume();
    use(end < 0 ? text : text.slice(0, end));
  };
  socket.setEncoding('utf8').on('data', onData);
  socket.on('close', stopReading);
}

async function reply(
  line: string,
  table: LeaseTable,
  hostPrefix: string,
  signal: AbortSignal,
  log: (message: string) => void,
): Promise<unknown> {
  try {
    return { answer: await answer(readQuestion(line), table, hostPrefix, signal) };
  } catch (error) {
    if (error instanceof HeddleError) return refusal(error);
    log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return { error: { code: 'DHCP_DAEMON_FAILED', message: String(error) } };
  }
}

function refusal({ code, message }: HeddleError): object {
  return { error: { code, message } };
}

function readQuestion(line: string): v.InferOutput<typeof questionSchema> {
  try {
    return v.parse(questionSchema, JSON.parse(line));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new DhcpError('DHCP_REQUEST_INVALID', `the daemon does not understand the question: ${why}`);
  }
}

async function answer(
  question: v.InferOutput<typeof questionSchema>,
  table: LeaseTable,
  hostPrefix: string,
  signal: AbortSignal,
): Promise<unknown> {
  switch (question.ask) {
    case 'greet':
      return 'heddle';
    case 'acquire':
      return table.acquire({ ...question, netns: hostPrefix + question.netns }, signal);
    case 'adopt':
      return table.adopt({ ...question, netns: hostPrefix + question.netns }, question.prefix, signal);
    case 'find':
      return table.find(question.owner) ?? null;
    case 'release':
      return table.release(question.owner);
    case 'list':
      return table.list();
  }
}
