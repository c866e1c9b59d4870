/**
 * The root of every error that Heddle throws on purpose. Anything else that is thrown is a defect,
 * and is shown with its stack.
 */

/** What may accompany an error's message. */
export interface HeddleErrorOptions {
  /** The lower-level failure that led here. */
  readonly cause?: unknown;
  /** Machine-readable facts about the failure, safe to log. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** What the reader can do about it, as one sentence fragment. */
  readonly hint?: string;
}

/**
 * An expected failure: `message` says what failed, on what and why; `code` is a stable identifier
 * that programs may match on (listed in `docs/errors.md`).
 *
 * @example
 * try { … } catch (error) {
 *   if (error instanceof HeddleError && error.code === 'ADDR_INVALID') …
 * }
 */
export abstract class HeddleError extends Error {
  /** Stable identifier, upper snake case. */
  abstract readonly code: string;
  /** Machine-readable facts about the failure. */
  declare readonly details?: Readonly<Record<string, unknown>>;
  /** What the reader can do about it. */
  declare readonly hint?: string;

  constructor(message: string, options: HeddleErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    if (options.details !== undefined) this.details = options.details;
    if (options.hint !== undefined) this.hint = options.hint;
  }
}
