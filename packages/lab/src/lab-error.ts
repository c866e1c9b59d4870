import { HeddleError } from '@heddle/errors';

/** What can go wrong with a lab. */
export type LabErrorCode = 'LAB_INVALID' | 'LAB_EXISTS' | 'LAB_MISSING' | 'LAB_FAILED';

/** A lab that cannot be made or used as asked. */
export class LabError extends HeddleError {
  override readonly code: LabErrorCode;

  constructor(
    code: LabErrorCode,
    message: string,
    options: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.code = code;
  }
}
