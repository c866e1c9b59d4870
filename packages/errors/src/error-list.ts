import { HeddleError } from './heddle-error.ts';

/**
 * Several failures of an operation that goes on past a problem (teardown, GC, validation).
 * Nested lists are flattened, so `errors` holds only causes.
 */
export class ErrorList extends HeddleError {
  override readonly code: string = 'SEVERAL';
  /** The failures, in the order in which they happened. */
  readonly errors: readonly unknown[];

  constructor(what: string, errors: readonly unknown[]) {
    const flat = errors.flatMap((error) => (error instanceof ErrorList ? error.errors : [error]));
    super(`${what}: ${flat.map(textOf).join('; ')}`, { cause: flat[0] });
    this.errors = flat;
  }

  /**
   * Throws what was collected: nothing for none, the error itself for one, a list for more.
   *
   * @example ErrorList.throwIfAny('delete attachment', problems);
   */
  static throwIfAny(what: string, errors: readonly unknown[]): void {
    if (errors.length === 0) return;
    if (errors.length === 1) throw errors[0];
    throw new ErrorList(what, errors);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
