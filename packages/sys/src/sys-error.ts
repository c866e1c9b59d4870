import { HeddleError, type HeddleErrorOptions } from '@heddle/errors';
import { errnoName, errnoText } from './errno.ts';

/** What a failed system call is described by. */
export interface SysFailure extends HeddleErrorOptions {
  /** The error number, such as 2. */
  readonly errnum: number;
  /** The call, such as `open`. */
  readonly syscall: string;
  /** The file it was about. */
  readonly path?: string | undefined;
  /** Replaces the message that is made of the other fields. */
  readonly message?: string;
}

/**
 * A system call that failed: `open /x: ENOENT (No such file or directory)`.
 *
 * @example
 * try { … } catch (error) {
 *   if (!SysError.is(error, 'ENOENT', 'ENODEV')) throw error;
 * }
 */
export class SysError extends HeddleError {
  override readonly code: string = 'SYSCALL_FAILED';
  /** The error's name, such as `ENOENT`. */
  readonly errno: string;
  /** The error's number, such as 2. */
  readonly errnum: number;
  /** The call that failed. */
  readonly syscall: string;
  /** The file it was about. */
  declare readonly path?: string;

  constructor(failure: SysFailure) {
    super(failure.message ?? messageOf(failure), failure);
    this.errno = errnoName(failure.errnum);
    this.errnum = failure.errnum;
    this.syscall = failure.syscall;
    if (failure.path !== undefined) this.path = failure.path;
  }

  /** Whether something caught is a failed system call with one of these error names (any, when none is given). */
  static is(error: unknown, ...errnos: readonly string[]): error is SysError {
    return error instanceof SysError && (errnos.length === 0 || errnos.includes(error.errno));
  }
}

function messageOf({ syscall, path, errnum }: SysFailure): string {
  const on = path === undefined ? '' : ` ${path === '' ? '""' : path}`;
  return `${syscall}${on}: ${errnoName(errnum)} (${errnoText(errnum)})`;
}
