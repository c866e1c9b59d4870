import { setTimeout as sleep } from 'node:timers/promises';
import { type Fd, SO, SOL, SysError, send, setsockopt } from '@heddle/sys';
import { AgentError } from './agent-error.ts';

/**
 * Sends all bytes on a socket that does not block. A reader that takes its time holds up nobody but itself.
 *
 * @param patience milliseconds
 * @throws {AgentError} AGENT_CLIENT when the reader does not take them in time
 * @throws {SysError} EPIPE, ECONNRESET when it has gone
 */
export async function sendAll(fd: Fd, bytes: Uint8Array, patience: number): Promise<void> {
  const until = performance.now() + patience;
  for (let done = 0; done < bytes.length; ) {
    try {
      done += send(fd, bytes.subarray(done));
    } catch (error) {
      if (!SysError.is(error, 'EAGAIN')) throw error;
      if (performance.now() > until) {
        throw new AgentError('AGENT_CLIENT', `send an answer: it was not taken in ${patience} ms`);
      }
      // Hardly an answer is larger than the buffer; then there is to be room for all of it.
      setsockopt(fd, SOL.SOCKET, SO.SNDBUFFORCE, 2 * bytes.length);
      await sleep(RETRY);
    }
  }
}

/** Milliseconds. */
const RETRY = 5;
