import { getSystemErrorMessage } from 'node:util';
import { CNI_CODE, CniError } from '../index.ts';

/**
 * A failure of the file system as an error of ours.
 *
 * @example ioFailure('write the result cache', error).message // 'write the result cache: mkdir /x: permission denied'
 */
export function ioFailure(what: string, error: unknown): CniError {
  return new CniError(CNI_CODE.IO_FAILURE, `${what}: ${describeIo(error)}`, {
    code: 'FILE_FAILED',
    cause: error,
  });
}

/** True when what was looked for is not there. */
export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function describeIo(error: unknown): string {
  const { syscall, path, errno, message } = error as NodeJS.ErrnoException;
  // Errors of the sys package say all this in their message, with an errno that is a name.
  if (syscall === undefined || typeof errno !== 'number') return message;
  return `${[syscall, path].filter((part) => part !== undefined).join(' ')}: ${getSystemErrorMessage(errno)}`;
}
