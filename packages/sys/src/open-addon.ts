/** Where the addon is found, and how it is loaded. A program that the addon is part of has another module for this. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Addon } from './addon.ts';
import { SysError } from './sys-error.ts';

/** Loads the addon from where it is. */
export function openAddon(): Addon {
  return loadAddon(locateAddon());
}

/**
 * Loads the addon from a file.
 *
 * @throws SysError `dlopen` when the file is no addon for this machine.
 */
export function loadAddon(path: string): Addon {
  const module = { exports: {} as Addon };
  try {
    // Not require(): a bundler would try to pull the file into the bundle.
    process.dlopen(module, path);
  } catch (cause) {
    throw new SysError({
      ...{ syscall: 'dlopen', errnum: ENOEXEC, path, cause },
      message: `load addon ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
    });
  }
  return module.exports;
}

const ENOENT = 2;
const ENOEXEC = 8;
const FILE = 'heddle_sys.node';

/** In this package's build directory; beside a bundle; beside a single executable. */
function locateAddon(): string {
  const candidates = [
    join(import.meta.dirname, '..', 'build', FILE),
    join(import.meta.dirname, FILE),
    join(executableDirectory(), FILE),
  ];
  const found = candidates.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new SysError({
    ...{ syscall: 'dlopen', errnum: ENOENT, path: FILE },
    message: `load addon ${FILE}: not found (tried ${candidates.join(', ')})`,
    hint: 'build it with `npm run build:native`, or put it beside the executable',
  });
}

function executableDirectory(): string {
  try {
    return dirname(realpathSync(process.execPath));
  } catch {
    // An upgrade has just put another executable in its place: the path now ends in " (deleted)".
    return dirname(process.execPath);
  }
}
