/** Asking the daemon something. */
import { connect } from 'node:net';
import { getSystemErrorMessage } from 'node:util';
import * as v from 'valibot';
import { DhcpError } from './dhcp-error.ts';
import { type Answer, answerSchemas, type Question, refusalSchema } from './protocol.ts';

/**
 * Asks the daemon on a socket.
 *
 * @throws {DhcpError} DHCP_DAEMON_UNREACHABLE when nobody listens there; DHCP_DAEMON_FOREIGN when it is another
 *   program, such as the reference's daemon; DHCP_DAEMON_FAILED with the daemon's own words, and its code in
 *   `details.code`
 * @example const lease = await askDaemon('/run/cni/dhcp.sock', { ask: 'find', owner });
 */
export async function askDaemon<Q extends Question>(
  socketPath: string,
  question: Q,
): Promise<Answer<Q['ask']>> {
  const text = await converse(socketPath, `${JSON.stringify(question)}\n`);
  if (text === '') {
    throw new DhcpError('DHCP_DAEMON_UNREACHABLE', `the daemon on ${socketPath} hung up without an answer`);
  }
  const reply = parse(text);
  if (v.is(refusalSchema, reply)) {
    const { code, message } = reply.error;
    throw new DhcpError('DHCP_DAEMON_FAILED', message, { details: { code } });
  }
  const schema = v.object({ answer: answerSchemas[question.ask] });
  const result = v.safeParse(schema, reply);
  if (result.success) return result.output.answer as Answer<Q['ask']>;
  const hint = text.startsWith('HTTP/')
    ? "it is the reference's: stop it, and start Heddle's with `heddle dhcp daemon`"
    : 'something else has the socket';
  throw new DhcpError('DHCP_DAEMON_FOREIGN', `who listens on ${socketPath} is not Heddle's DHCP daemon`, {
    hint,
  });
}

/** Writes one text and reads what comes back to its end. */
function converse(socketPath: string, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(socketPath);
  let received = '';
  socket.setEncoding('utf8');
  socket.on('connect', () => socket.write(text));
  socket.on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    const { syscall, errno, message } = error;
    const reason = errno === undefined ? message : `${syscall}: ${getSystemErrorMessage(errno)}`;
    reject(
      new DhcpError('DHCP_DAEMON_UNREACHABLE', `dial unix ${socketPath}: ${reason}`, {
        cause: error,
        hint: 'start it with `heddle dhcp daemon`, or by its systemd socket',
      }),
    );
  });
  socket.on('close', () => resolve(received));
  return promise;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whatever else it is, it is no answer of our daemon.
    return undefined;
  }
}
