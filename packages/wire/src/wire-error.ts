import { HeddleError } from '@heddle/errors';

/**
 * Bytes that are not of the format they should have.
 *
 * The message names the place from the outside in, such as
 * `IFLA.linkinfo.data: u32 needs 4 bytes, 2 are left (at byte 44)`.
 */
export class WireError extends HeddleError {
  override readonly code = 'WIRE_MALFORMED';
  /** The format that could not be read. */
  readonly format: string;
  /** Offset in the message, in bytes. */
  readonly offset: number;
  /** The attribute names from the outermost set to the value. */
  readonly path: readonly string[];
  readonly #reason: string;

  constructor(format: string, offset: number, reason: string, path: readonly string[] = []) {
    super(`${path.length > 0 ? `${path.join('.')}: ` : ''}${format} ${reason} (at byte ${offset})`, {
      details: { format, offset, path },
    });
    this.format = format;
    this.offset = offset;
    this.path = path;
    this.#reason = reason;
  }

  /** The same error, seen from one level further out. */
  within(step: string): WireError {
    return new WireError(this.format, this.offset, this.#reason, [step, ...this.path]);
  }
}

/** The error to throw one level further out: a {@link WireError} gets `step` in front of its path. */
export function within(step: string, error: unknown): unknown {
  return error instanceof WireError ? error.within(step) : error;
}
