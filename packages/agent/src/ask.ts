/** Asking an agent about itself. */
import { connect as connectTo } from 'node:net';
import { decodeAnswer, HANDOVER_FLAG, handoverBytes } from '@heddle/cni/runtime';
import { AgentError } from './agent-error.ts';
import type { AgentStatus } from './observe/status.ts';

/**
 * Asks the agent behind a socket how it is.
 *
 * @param patience milliseconds
 * @throws {AgentError} AGENT_ABSENT when none answers there
 */
export async function askStatus(path: string, patience?: number): Promise<AgentStatus> {
  return JSON.parse(await ask(path, HANDOVER_FLAG.STATUS, patience)) as AgentStatus;
}

/**
 * Asks the agent behind a socket for its metrics, in Prometheus' text.
 *
 * @param patience milliseconds
 * @throws {AgentError} AGENT_ABSENT when none answers there
 */
export async function askMetrics(path: string, patience?: number): Promise<string> {
  return await ask(path, HANDOVER_FLAG.METRICS, patience);
}

async function ask(path: string, flags: number, patience = 5000): Promise<string> {
  const answer = decodeAnswer(await exchange(path, handoverBytes({ flags }), patience));
  if (answer.verdict === 'done') return answer.outcome.stdout;
  throw new AgentError('AGENT_ABSENT', `ask the agent at ${path}: it declines`);
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
