/**
 * Files that exist only to be locked with flock(2). A lock ends with its process, however that ends.
 *
 * Such files may be removed by whoever holds them, so a lock only counts when the file is still the one that
 * its path names; otherwise two processes could hold "the" lock on two different files.
 */
import { dirname } from 'node:path';
import {
  type Fd,
  flock,
  flockAsync,
  linkCount,
  makeDirectory,
  O,
  openFile,
  SysError,
  unlink,
} from '@heddle/sys';
import { ioFailure } from './io-failure.ts';

/** Waits for a lock of the file at `path`; makes the file where it is missing. */
export async function lockFile(
  path: string,
  mode: 'shared' | 'exclusive',
  signal?: AbortSignal,
): Promise<Fd> {
  for (;;) {
    const file = openLockFile(path);
    try {
      await flockAsync(file, mode, signal === undefined ? {} : { signal });
      if (isStillThere(file)) return file;
    } catch (error) {
      file.close();
      throw error;
    }
    file.close();
  }
}

/** As {@link lockFile}, exclusively and at once; undefined when somebody else has a lock of it. */
export function tryLockFile(path: string): Fd | undefined {
  for (;;) {
    const file = openLockFile(path);
    if (!flock(file, 'exclusive', { nonblocking: true })) {
      file.close();
      return undefined;
    }
    if (isStillThere(file)) return file;
    file.close();
  }
}

/** As {@link lockFile}, but blocks the thread: for locks that are held for microseconds. */
export function lockFileSync(path: string, mode: 'shared' | 'exclusive'): Fd {
  for (;;) {
    const file = openLockFile(path);
    flock(file, mode);
    if (isStillThere(file)) return file;
    file.close();
  }
}

/** Removes the file, unless somebody else has a lock of it; then gives the own lock back. */
export function removeLockFile(file: Fd, path: string): void {
  // Changing a shared lock to an exclusive one may lose it, which is what happens next anyway.
  if (flock(file, 'exclusive', { nonblocking: true }) && isStillThere(file)) unlink(path);
  file.close();
}

function openLockFile(path: string): Fd {
  const open = () => openFile(path, O.RDWR | O.CREAT, 0o600);
  try {
    return open();
  } catch (error) {
    if (!SysError.is(error, 'ENOENT', 'ENOTDIR')) throw error;
  }
  try {
    makeDirectory(dirname(path), 0o700);
  } catch (error) {
    throw ioFailure('prepare a lock', error);
  }
  return open();
}

/** Whether the file has its name still: such files are made and removed, never put in another's place. */
function isStillThere(file: Fd): boolean {
  return linkCount(file) > 0;
}
