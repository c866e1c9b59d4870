/** Asking an agent how it is. */
import { connect as connectTo } from 'node:net';
import { HANDOVER_FLAG, handoverBytes } from '@heddle/cni/runtime';
import { AgentError } from './agent-error.ts';
import { decodeAnswer } from './answer.ts';
import type { AgentStatus } from './status.ts';

/**
 * Asks the agent behind a socket.
 *
 * @throws {AgentError} AGENT_ABSENT when none answers there
 */
export async function askStatus(path: string, patience = 5000): Promise<AgentStatus> {
  const answer = decodeAnswer(await exchange(path, handoverBytes({ flags: HANDOVER_FLAG.STATUS }), patience));
  if (answer.verdict === 'declined')
    throw new AgentError('AGENT_ABSENT', `ask the agent at ${path}: it declines`);
  return JSON.parse(answer.outcome.stdout) as AgentStatus;
}

function exchange(path: string, request: Uint8Array, patience: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const portions: Buffer[] = [];
  const absent = (why: string, cause?: unknown) =>
    reject(new AgentError('AGENT_ABSENT', `ask the agent at ${path}: ${why}`, { cause }));
  const socket = connectTo(path, () => socket.write(request));
  socket.setTimeout(patience, () => absent(`it did not answer in ${patience} ms`));
  socket.on('data', (bytes: Buffer) => portions.push(bytes));
  socket.on('end', () => resolve(Buffer.concat(portions)));
  socket.on('error', (error) => absent(error.message, error));
  return promise.finally(() => socket.destroy());
}
