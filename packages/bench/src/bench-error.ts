import { HeddleError } from '@heddle/errors';

/** What keeps a measurement from being made. */
export type BenchErrorCode = 'BENCH_DRIVER' | 'BENCH_REFUSED' | 'BENCH_FAILED';

/** A measurement that cannot be made. */
export class BenchError extends HeddleError {
  override readonly code: BenchErrorCode;

  constructor(
    code: BenchErrorCode,
    message: string,
    options: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.code = code;
  }
}
