import { HeddleError, type HeddleErrorOptions } from './heddle-error.ts';

/**
 * A failure of one kind that may have several codes, so that one `catch` takes them all.
 *
 * @example
 * class LeaseError extends CodedError<'LEASE_GONE' | 'LEASE_TAKEN'> {}
 * try { … } catch (error) {
 *   if (LeaseError.is(error, 'LEASE_GONE')) return;
 *   throw error;
 * }
 */
export abstract class CodedError<Code extends string> extends HeddleError {
  override readonly code: Code;

  constructor(code: Code, message: string, options: HeddleErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }

  /** Whether something caught is such a failure, with one of these codes (any, when none is given). */
  static is<Failure extends CodedError<string>>(
    this: FailureClass<Failure>,
    error: unknown,
    ...codes: readonly Failure['code'][]
  ): error is Failure {
    // biome-ignore lint/complexity/noThisInStatic: the class that it is asked of, not this base of all.
    return error instanceof this && (codes.length === 0 || codes.includes(error.code));
  }
}

type FailureClass<Failure> = abstract new (...args: never[]) => Failure;
