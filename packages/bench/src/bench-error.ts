import { CodedError } from '@heddle/errors';

/** What keeps a measurement from being made. */
export type BenchErrorCode = 'BENCH_DRIVER' | 'BENCH_REFUSED' | 'BENCH_FAILED';

/** A measurement that cannot be made. */
export class BenchError extends CodedError<BenchErrorCode> {}
