/** Writes a changed file so that there is the old one or the new one at every moment. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CNI_CODE, CniError } from '@heddle/cni';
import type { FileChange } from './plan.ts';

/**
 * Makes a change. A link stays one: the file that it leads to is changed. Owner and mode are kept.
 *
 * @throws {CniError} when the disk refuses; the file is then as it was
 */
export function writeChange({ path, before, after, renameTo, isReencoded }: FileChange): void {
  try {
    if (after !== before || isReencoded) replace(realpathSync(path), Buffer.from(after, 'utf8'));
    if (renameTo === undefined) return;
    if (existsSync(renameTo)) throw new Error('there is another file of that name');
    renameSync(path, renameTo);
    syncDirectory(dirname(renameTo));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CniError(CNI_CODE.IO_FAILURE, `cannot change ${path}: ${why}`, { cause: error });
  }
}

function replace(path: string, bytes: Uint8Array): void {
  const { mode, uid, gid } = statSync(path);
  // The name begins with a dot and ends in nothing that a runtime reads.
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.draft`);
  const file = openSync(draft, 'wx', 0o600);
  try {
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
      const now = statSync(draft);
      if (now.uid !== uid || now.gid !== gid) fchownSync(file, uid, gid);
      fchmodSync(file, mode & 0o7777);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncDirectory(dirname(path));
}

/** Makes a rename last over a power cut. */
function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
