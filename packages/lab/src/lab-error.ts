import { CodedError } from '@heddle/errors';

/** What can go wrong with a lab. */
export type LabErrorCode = 'LAB_INVALID' | 'LAB_EXISTS' | 'LAB_MISSING' | 'LAB_FAILED';

/** A lab that cannot be made or used as asked. */
export class LabError extends CodedError<LabErrorCode> {}
