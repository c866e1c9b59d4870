/** What checks ask of a call that must fail. */
import { isJsonObject, type JsonObject } from '@heddle/cni';
import { must } from '../failure.ts';
import type { Call } from '../lab/call.ts';
import { outcome } from '../lab/lab.ts';

/** An error as a plugin prints it. */
export interface Refusal {
  readonly json: JsonObject;
  readonly code: number;
  /** Message and details. */
  readonly text: string;
}

/**
 * The error object of a call.
 *
 * @param what completes "expected an error …"
 * @throws {CheckFailure} when it succeeded, died of a signal, or printed anything but one error object
 */
export function refusal(call: Call, what: string): Refusal {
  must(call.exitCode !== 0 && call.signal === null, `an error ${what}`, () => outcome(call), call);
  const json = parsed(call.stdout);
  must(json !== undefined, `exactly one error object on stdout ${what}`, () => outcome(call), call);
  const { code, msg, details } = json;
  const isSound = typeof code === 'number' && Number.isInteger(code) && typeof msg === 'string' && msg !== '';
  must(
    isSound,
    `an error object with the number "code" and the text "msg" ${what}`,
    () => outcome(call),
    call,
  );
  return { json, code, text: `${msg} ${typeof details === 'string' ? details : ''}` };
}

/** The same, with one of these codes. */
export function refusalWith(call: Call, codes: readonly number[], what: string): Refusal {
  const found = refusal(call, what);
  must(
    codes.includes(found.code),
    `an error with code ${codes.join(' or ')} ${what}`,
    () => outcome(call),
    call,
  );
  return found;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return isJsonObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}
