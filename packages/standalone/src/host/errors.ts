/** Failed system calls as Node.js reports them; also what the program uses of `node:util`. */
import { errnoName, errnoText } from '@heddle/sys';

/** An error of a system call: its `code`, such as `ENOENT`, is what callers look at. */
export function systemError(errnum: number, syscall: string, path?: string): Error {
  const on = path === undefined ? '' : ` '${path}'`;
  const code = errnoName(errnum);
  const error: NodeJS.ErrnoException = withoutStack(`${code}: ${message(errnum)}, ${syscall}${on}`);
  error.errno = -errnum;
  error.code = code;
  error.syscall = syscall;
  if (path !== undefined) error.path = path;
  return error;
}

/** Most are expected, such as that a file is not there, and a stack costs more than the call that failed. */
function withoutStack(text: string): Error {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return new Error(text);
  } finally {
    Error.stackTraceLimit = limit;
  }
}

/** The text for a negative error number. */
export function getSystemErrorMessage(errno: number): string {
  return message(-errno);
}

/** The name for a negative error number. */
export function getSystemErrorName(errno: number): string {
  return errnoName(-errno);
}

/** Node.js has texts of its own for some; the others are the C library's, in lower case. */
function message(errnum: number): string {
  return TEXTS[errnoName(errnum)] ?? inLowerCase(errnoText(errnum));
}

/** But for abbreviations, as in `RFS specific error`. */
function inLowerCase(text: string): string {
  const second = text.charAt(1);
  return second >= 'a' && second <= 'z' ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** Source: libuv, include/uv.h (UV_ERRNO_MAP). */
const TEXTS: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'address not available',
  EAFNOSUPPORT: 'address family not supported',
  EALREADY: 'connection already in progress',
  EBUSY: 'resource busy or locked',
  EEXIST: 'file already exists',
  EFAULT: 'bad address in system call argument',
  EHOSTUNREACH: 'host is unreachable',
  EILSEQ: 'illegal byte sequence',
  EIO: 'i/o error',
  EISCONN: 'socket is already connected',
  EISDIR: 'illegal operation on a directory',
  ELOOP: 'too many symbolic links encountered',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'name too long',
  ENFILE: 'file table overflow',
  ENOMEM: 'not enough memory',
  ENOTCONN: 'socket is not connected',
  EOPNOTSUPP: 'operation not supported on socket',
  EPROTOTYPE: 'protocol wrong type for socket',
  ERANGE: 'result too large',
  ESPIPE: 'invalid seek',
  ETXTBSY: 'text file is busy',
  EXDEV: 'cross-device link not permitted',
};
