/** The agent's answer as bytes. Source: `struct response` in native/shim/shim.c. */
import { decode, encode, i32, struct, u32 } from '@heddle/wire';
import type { PluginOutcome } from '../plugin/index.ts';
import { HandoverError } from './handover.ts';

/** The fixed beginning; stdout and stderr follow. All in host order. */
const answerHeader = struct('heddle_response', {
  magic: u32,
  verdict: u32,
  exitCode: i32,
  stdout: u32,
  stderr: u32,
});

/** What becomes of a call: it is done, or the caller is to do it without the agent. */
export type Answer =
  | { readonly verdict: 'done'; readonly outcome: PluginOutcome }
  | { readonly verdict: 'declined' };

/** Writes an answer. */
export function encodeAnswer(answer: Answer): Uint8Array {
  if (answer.verdict === 'declined') return encode(answerHeader, { magic: MAGIC, verdict: VERDICT.declined });
  const { exitCode, stdout, stderr } = answer.outcome;
  const [out, error] = [Buffer.from(stdout), Buffer.from(stderr)];
  const sizes = { stdout: out.length, stderr: error.length };
  return Buffer.concat([
    encode(answerHeader, { magic: MAGIC, verdict: VERDICT.done, exitCode, ...sizes }),
    out,
    error,
  ]);
}

/**
 * Reads an answer.
 *
 * @throws {HandoverError} for what is none
 */
export function decodeAnswer(bytes: Uint8Array): Answer {
  if (bytes.length < SIZE) throw new HandoverError('read an answer: it is cut off');
  const { magic, verdict, exitCode, stdout, stderr } = decode(answerHeader, bytes);
  if (magic !== MAGIC || bytes.length !== SIZE + stdout + stderr) {
    throw new HandoverError('read an answer: it is none');
  }
  if (verdict === VERDICT.declined) return { verdict: 'declined' };
  const text = Buffer.from(bytes.subarray(SIZE));
  return {
    verdict: 'done',
    outcome: {
      exitCode,
      stdout: text.toString('utf8', 0, stdout),
      stderr: text.toString('utf8', stdout, stdout + stderr),
    },
  };
}

/** `HEA1` in memory. */
const MAGIC = 0x31414548;
const VERDICT = { done: 0, declined: 1 } as const;
const SIZE = encode(answerHeader, {}).length;
