/** What is there already, as an installation sees it. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What is at a path. */
export type Present =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'file'; readonly sha256: string }
  | { readonly kind: 'link'; readonly target: string }
  /** A directory, a device, … */
  | { readonly kind: 'other' };

/** Looks at a path, not through a link. */
export function presentAt(path: string): Present {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return { kind: 'nothing' };
  if (found.isSymbolicLink()) return { kind: 'link', target: readlinkSync(path) };
  if (found.isFile()) return { kind: 'file', sha256: sha256(readFileSync(path)) };
  return { kind: 'other' };
}

/** The names in a directory; none when it is not there. */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The digest by which an installation knows its own files. */
export function sha256(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}
