import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from '@heddle/sys';

/**
 * Makes a directory that everybody may read, with its parents: rootless programs look at networks and plugins
 * too. The umask does not change that; directories that are there already stay as they are.
 */
export function makeOpenDirectory(path: string): void {
  const topmost = makeDirectory(path, 0o755);
  if (topmost === undefined) return;
  for (let made = path; made.length >= topmost.length; made = dirname(made)) chmodSync(made, 0o755);
}
