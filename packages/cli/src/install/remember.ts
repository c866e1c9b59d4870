/** What is at a path before it is changed, so that it can be there again. */
import { lstatSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { appear } from './apply.ts';

/**
 * Remembers what is at a path: nothing, a link or a file.
 *
 * @returns brings it back
 */
export function remember(path: string): () => void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return () => rmSync(path, { force: true });
  if (found.isSymbolicLink()) {
    const target = readlinkSync(path);
    return () => appear(path, (draft) => symlinkSync(target, draft));
  }
  const content = readFileSync(path);
  return () =>
    appear(path, (draft) => writeFileSync(draft, content, { mode: found.mode & 0o7777, flush: true }));
}
