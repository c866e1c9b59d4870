/** Directories: with those above them. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory and those above it that are missing; one that is there already stays as it is.
 *
 * Not `mkdirSync` with `recursive`, which never returns where a file system takes no directories at all, as below
 * `/proc`: paths may come from a configuration.
 *
 * @param mode of all that are made, less the umask
 * @returns the topmost that was made; undefined when there was nothing to do
 * @throws the error of mkdir(2), such as ENOENT in such a place, ENOTDIR or EEXIST for a file in the way, EROFS
 * @example makeDirectory('/run/heddle/locks', 0o700) // '/run/heddle', when only /run was there
 */
export function makeDirectory(path: string, mode = 0o777): string | undefined {
  // Mostly it is there, and looking costs far less than an exception.
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  try {
    return makeOne(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    const above = makeDirectory(parent, mode);
    const made = makeOne(path, mode);
    return above ?? made;
  }
}

function makeOne(path: string, mode: number): string | undefined {
  try {
    mkdirSync(path, { mode });
    return path;
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && statSync(path).isDirectory()) return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
