/** The files of this machine, as an audit reads them. */
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { NOT_A_DIRECTORY } from './audit.ts';
import type { DirectoryEntry, ReadFiles } from './model/ports.ts';

/** Configurations are small; what is larger was put there by mistake. */
const LARGEST = 8 << 20;

/** Reads from the disk. */
export const nodeFiles: ReadFiles = {
  read(path) {
    try {
      const stats = statSync(path);
      if (stats.isDirectory()) return 'it is a directory';
      if (!stats.isFile()) return 'it is no regular file';
      if (stats.size > LARGEST) return `it has ${stats.size} bytes, too many for a configuration`;
      return readFileSync(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') return words(error);
      return isLink(path) ? 'it is a link that leads nowhere' : 'gone';
    }
  },

  list(path) {
    try {
      return readdirSync(path, { withFileTypes: true }).map((entry) => ({
        name: entry.name,
        kind: entry.isFile() ? 'file' : kindOf(join(path, entry.name)),
      }));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      return codeOf(error) === 'ENOTDIR' ? NOT_A_DIRECTORY : words(error);
    }
  },
};

function kindOf(path: string): DirectoryEntry['kind'] {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return 'directory';
    return stats.isFile() ? 'file' : 'other';
  } catch {
    // It leads nowhere, to itself, or to where one may not look.
    return 'broken link';
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null ? (error as { code?: string }).code : undefined;
}

function words(error: unknown): string {
  const code = codeOf(error);
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'ELOOP') return 'it is a link that leads back to itself';
  return error instanceof Error ? error.message : String(error);
}
