/** A failure in words: what was sent, what came, what was expected, and why it matters. */
import type { Call } from '../lab/call.ts';
import type { Outcome } from '../run.ts';
import { type Invocation, quoted, reproduction } from './reproduce.ts';

/** Parts of an explanation: a title and a text of one or more lines. */
export type Part = readonly [title: string, text: string];

/** The parts, in the order in which one wants to read them; none when the check did not fail. */
export function explain({ id, failure }: Outcome, invocation: Invocation): readonly Part[] {
  if (failure === undefined) return [];
  const { expected, got, why, cites, call } = failure;
  return [
    ['expected', expected],
    ['got', got],
    ['why it matters', why],
    ['rests on', cites],
    ...(call === undefined ? [] : callParts(call)),
    ['again', reproduction(id, invocation)],
  ];
}

const MOST = 2000;

function callParts({ env, program, stdin, exitCode, signal, stdout, stderr }: Call): readonly Part[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
  return [
    ['call', [...variables, quoted(program)].join(' ')],
    ['stdin', cut(typeof stdin === 'string' ? stdin : Buffer.from(stdin).toString('latin1'))],
    ['ended with', signal === null ? `exit code ${exitCode}` : `${signal}`],
    ['stdout', cut(stdout)],
    ...(stderr === '' ? [] : [['stderr', cut(stderr)] as const]),
  ];
}

function cut(text: string): string {
  const shown = text.trim();
  if (shown === '') return '(empty)';
  return shown.length > MOST ? `${shown.slice(0, MOST)}… (${shown.length} characters)` : shown;
}
