import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory that everybody may read, with its parents: rootless programs look at networks and plugins
 * too. The umask does not change that; directories that are there already stay as they are.
 */
export function makeOpenDirectory(path: string): void {
  const topmost = mkdirSync(path, { recursive: true, mode: 0o755 });
  if (topmost === undefined) return;
  for (let made = path; made.length >= topmost.length; made = dirname(made)) chmodSync(made, 0o755);
}
