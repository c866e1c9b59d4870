/** The files of this machine, as an audit reads them. */
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { NOT_A_DIRECTORY } from './audit.ts';
import type { DirectoryEntry, ReadFiles } from './model/ports.ts';

/** Configurations are small; what is larger was put there by mistake. */
const LARGEST = 8 << 20;

/** Reads from the disk. */
export const nodeFiles: ReadFiles = {
  read(path) {
    const answer = readOne(path);
    if (answer !== 'gone') return answer;
    const other = byBytes(path);
    return other === undefined ? 'gone' : readOne(other);
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

function readOne(path: string | Buffer): ReturnType<ReadFiles['read']> {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return 'it is a directory';
    if (!stats.isFile()) return 'it is no regular file';
    if (stats.size > LARGEST) return `it has ${stats.size} bytes, too many for a configuration`;
    // Files of /proc say that they have no size; some, such as kmsg, would be waited for, or used up.
    return stats.size === 0 ? new Uint8Array() : readFileSync(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return words(error);
    return isLink(path) ? 'it is a link that leads nowhere' : 'gone';
  }
}

/** The path of a file whose name is no UTF-8: the name as it was listed has U+FFFD in the place of such bytes. */
function byBytes(path: string): Buffer | undefined {
  if (!path.includes('\ufffd')) return undefined;
  try {
    const name = readdirSync(dirname(path), { encoding: 'buffer' }).find(
      (each) => each.toString() === basename(path),
    );
    return name && Buffer.concat([Buffer.from(`${dirname(path)}/`), name]);
  } catch {
    return undefined;
  }
}

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

function isLink(path: string | Buffer): boolean {
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
