/** Whether an outcome counts: only what has verifiably happened is measured. */
import { isJsonObject, type JsonObject, parseJson, parseResult } from '@heddle/cni';
import type { Verb } from './calls.ts';
import { errnoText } from './errno-text.ts';
import type { JobOutcome, StepOutcome } from './outcome.ts';

/** A job that counts, with ADD's result, or why it does not. */
export type Verdict = { readonly result?: JsonObject } | { readonly failure: string };

/**
 * Judges a job.
 *
 * - Every program has exited with 0.
 * - VERSION: each has printed the versions that it speaks.
 * - ADD: the last has printed a result, the pod has the interface, and its first packets have arrived.
 * - DEL: the pod has the interface no more.
 *
 * @param probes the addresses that packets were sent to
 */
export function judge(
  verb: Verb,
  { steps, arrivals, hasInterface }: JobOutcome,
  { types, probes, version }: { types: readonly string[]; probes: readonly string[]; version: string },
): Verdict {
  const failed = steps.findIndex(({ ending, code }) => ending !== 'exited' || code !== 0);
  const bad = steps[failed];
  if (bad !== undefined) return { failure: `${types[failed]}: ${explain(bad)}` };
  try {
    if (verb === 'VERSION') for (const { stdout } of steps) readVersions(stdout);
    if (verb === 'DEL' && hasInterface !== false) return { failure: 'the pod still has its interface' };
    if (verb !== 'ADD') return {};
    const result = readResult(steps.at(-1)?.stdout ?? '', version);
    if (hasInterface !== true) return { failure: 'the pod has no interface' };
    const lost = arrivals.flatMap((arrival, index) =>
      'lost' in arrival ? [`first packet to ${probes[index]} lost (${arrival.lost})`] : [],
    );
    return lost.length === 0 ? { result } : { failure: lost.join(', ') };
  } catch (error) {
    return { failure: `garbage on stdout: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function explain({ ending, code, stdout, stderr }: StepOutcome): string {
  switch (ending) {
    case 'late':
      return 'killed: it did not end in time';
    case 'signalled':
      return `ended by signal ${code}`;
    case 'unstarted':
      return `cannot be executed (${errnoText(code)})`;
    case 'exited':
      return `exit code ${code}: ${messageIn(stdout) ?? (stderr.trim().split('\n').at(-1) || 'no reason given')}`;
  }
}

/** The message of an error object, if that is what was printed. */
function messageIn(stdout: string): string | undefined {
  try {
    const error = parseJson(stdout);
    const message = isJsonObject(error) ? error['msg'] : undefined;
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

function readVersions(stdout: string): void {
  const answer = parseJson(stdout);
  if (!isJsonObject(answer) || !Array.isArray(answer['supportedVersions'])) {
    throw new SyntaxError('no supportedVersions');
  }
}

function readResult(stdout: string, version: string): JsonObject {
  const result = parseJson(stdout);
  parseResult(result, { version });
  if (!isJsonObject(result)) throw new SyntaxError('no result');
  return result;
}
