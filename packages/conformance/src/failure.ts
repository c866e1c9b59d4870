/** How a check says that a plugin does not hold what it should. */
import { HeddleError } from '@heddle/errors';
import type { Call } from './lab/call.ts';

/** The statement of a check does not hold. */
export class CheckFailure extends HeddleError {
  override readonly code = 'CHECK_FAILED';
  readonly expected: string;
  readonly got: string;
  /** The call that showed it; when absent, the last one. */
  readonly call: Call | undefined;

  constructor(expected: string, got: string, call?: Call) {
    super(`expected ${expected}; got ${got}`);
    this.expected = expected;
    this.got = got;
    this.call = call;
  }
}

/** The check says nothing about this plugin, as turned out while it ran. */
export class DoesNotApply extends HeddleError {
  override readonly code = 'CHECK_DOES_NOT_APPLY';
}

/** The kit cannot do its work: it was called wrongly, or this machine does not let it. */
export class KitError extends HeddleError {
  override readonly code = 'CONFORMANCE_IMPOSSIBLE';
}

/**
 * Fails the check unless a condition holds.
 *
 * @param expected completes "expected …"
 * @param got completes "got …"; made only when needed
 */
export function must(
  condition: boolean,
  expected: string,
  got: string | (() => string),
  call?: Call,
): asserts condition {
  if (!condition) throw new CheckFailure(expected, typeof got === 'string' ? got : got(), call);
}
