import { StoreError } from '../store-error.ts';

/** Result codes of SQLite, without what its extended codes add. */
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** Whether somebody else holds the lock just now. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
}

/** What went wrong with the file, in the port's terms; what is none of SQLite's errors comes back as it is. */
export function fromSqlite(path: string, call: string, error: unknown): unknown {
  const code = resultCode(error);
  if (code === undefined || !(error instanceof Error)) return error;
  const message = `${call} ${path}: ${error.message}`;
  switch (code) {
    case FULL:
      return new StoreError('STORE_FULL', message, { cause: error });
    case CORRUPT:
    case NOTADB:
      return new StoreError('STORE_CORRUPT', message, { cause: error });
    case READONLY:
      return new StoreError('STORE_UNAUTHORISED', message, { cause: error });
    case CANTOPEN:
    case BUSY:
    case LOCKED:
      return new StoreError('STORE_UNAVAILABLE', message, { cause: error });
    default:
      // A write that failed at its end may be found in the log after the next start.
      return new StoreError('STORE_UNAVAILABLE', message, { cause: error, mayHaveHappened: code === IOERR });
  }
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined;
  return error.errcode & 0xff;
}
