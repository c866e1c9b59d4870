/**
 * Looking for a plugin's executable in the plugin directories.
 *
 * The first directory that holds a runnable file of that name wins. The reference takes any regular file;
 * here one that cannot be started is passed over, and one for another processor only wins when there is
 * nothing better further on. An error names everything that stood in the way.
 */
import { accessSync, constants, readdirSync, readlinkSync, statSync } from 'node:fs';
import { CNI_CODE, CniError } from '../index.ts';
import { closest } from '../spelling.ts';
import { formatProblem } from './program-format.ts';

/** What a look-up gives. */
export interface FoundPlugin {
  /** The executable's path. */
  readonly path: string;
  /** What was passed over in earlier directories, in words: `broken link /a/bridge (to /nonexistent)`. */
  readonly obstacles: readonly string[];
}

/**
 * Finds a plugin's executable.
 *
 * @throws {CniError} whose text begins `failed to find plugin "X" in path [a b c]`; or about a `type` that
 * is empty or has a slash, or a path without directories.
 * @example findPlugin('bridge', ['/opt/cni/bin', '/usr/lib/cni']).path // '/opt/cni/bin/bridge'
 */
export function findPlugin(type: string, path: readonly string[]): FoundPlugin {
  if (type === '') throw new CniError(CNI_CODE.INVALID_CONFIG, 'no plugin name provided');
  if (type.includes('/')) throw new CniError(CNI_CODE.INVALID_CONFIG, `invalid plugin name: ${type}`);
  // An empty element would mean the current directory, which is never what anybody wants here.
  const directories = path.filter((directory) => directory !== '');
  if (directories.length === 0) {
    throw new CniError(CNI_CODE.NOT_FOUND, 'no paths provided', {
      code: 'PLUGIN_PATH_EMPTY',
      cniDetails: 'no plugin directory configured',
    });
  }
  const candidates = directories.map((directory) => inspect(directory, type));
  const best = candidates.findIndex(({ state }) => state === 'runnable');
  const chosen = best >= 0 ? best : candidates.findIndex(({ state }) => state === 'foreign');
  const obstacles = candidates.flatMap(({ problem }, index) =>
    problem !== undefined && index !== chosen && (chosen < 0 || index < chosen) ? [problem] : [],
  );
  const found = candidates[chosen];
  if (found !== undefined) return { path: found.path, obstacles };
  throw notFound(type, directories, obstacles);
}

interface Candidate {
  readonly path: string;
  /** `foreign`: for another processor; the kernel may have been told how to run it. */
  readonly state: 'runnable' | 'foreign' | 'unusable' | 'absent';
  readonly problem?: string;
}

function inspect(directory: string, type: string): Candidate {
  const path = directory.endsWith('/') ? `${directory}${type}` : `${directory}/${type}`;
  try {
    if (!statSync(path).isFile())
      return { path, state: 'unusable', problem: `${path} is no file but ${kindOf(path)}` };
    accessSync(path, constants.X_OK);
  } catch (error) {
    return explainUnusable(path, error);
  }
  const format = formatProblem(path);
  if (format === undefined) return { path, state: 'runnable' };
  return {
    path,
    state: format.kind === 'foreign' ? 'foreign' : 'unusable',
    problem: `${path} is ${format.words}`,
  };
}

function explainUnusable(path: string, error: unknown): Candidate {
  const { code, message } = error as NodeJS.ErrnoException;
  const target = linkTarget(path);
  if (code === 'ENOENT' && target !== undefined) {
    return { path, state: 'unusable', problem: `${path} is a broken link (to ${target})` };
  }
  if (code === 'ENOENT' || code === 'ENOTDIR') return { path, state: 'absent' };
  if (code === 'EACCES') return { path, state: 'unusable', problem: `${path} is not executable` };
  if (code === 'ELOOP') return { path, state: 'unusable', problem: `${path} is a link that leads to itself` };
  return { path, state: 'unusable', problem: message };
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function kindOf(path: string): string {
  return statSync(path).isDirectory() ? 'a directory' : 'a special file';
}

function notFound(type: string, directories: readonly string[], obstacles: readonly string[]): CniError {
  const suggestion = closest(type, directories.flatMap(namesIn));
  return new CniError(
    CNI_CODE.NOT_FOUND,
    `failed to find plugin "${type}" in path [${directories.join(' ')}]`,
    {
      code: 'PLUGIN_NOT_FOUND',
      ...(obstacles.length > 0 && { cniDetails: obstacles.join('; ') }),
      ...(suggestion !== undefined && suggestion !== type && { hint: `did you mean "${suggestion}"?` }),
    },
  );
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
