import { CniError, toCniError } from '../index.ts';

/** An error that says first what it kept from happening. Code, details and hint stay. */
export function wrapError(what: string, cause: unknown): CniError {
  const { cniCode, code, msg, cniDetails, hint, details } = toCniError(cause);
  return new CniError(cniCode, `${what}: ${msg}`, {
    cause,
    code,
    ...(cniDetails !== undefined && { cniDetails }),
    ...(hint !== undefined && { hint }),
    ...(details !== undefined && { details }),
  });
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
