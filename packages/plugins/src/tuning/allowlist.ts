/** Which kernel parameters a node's administrator lets configurations set. */
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { CNI_CODE, CniError, ConfigError } from '@heddle/cni';
import { compileRe2 } from './re2.ts';

/**
 * Refuses parameters that the list does not have. Each line of it is a regular expression in the syntax of RE2 that
 * may match anywhere in a name; without a list, all may be set.
 *
 * @param keys names as the configuration writes them
 * @param path the list
 * @throws {ConfigError} naming the parameter that is not allowed, or the line that is no regular expression
 * @throws {CniError} code 5 when there is a list that cannot be read: it does not count as none
 */
export function requireAllowed(keys: Iterable<string>, path: string): void {
  const text = readList(path);
  if (text === undefined) return;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const allowed = lines.map((line) => compileLine(line, path));
  for (const key of keys) {
    if (allowed.some((pattern) => pattern.test(key))) continue;
    throw new ConfigError(
      `Sysctl ${key} is not allowed. Only the following sysctls are allowed: [${lines.join(' ')}]`,
      {
        pointer: '/sysctl',
        hint: `they are listed in ${path}`,
      },
    );
  }
}

function compileLine(line: string, path: string): RegExp {
  try {
    return compileRe2(line);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`${path}: ${JSON.stringify(line)} is no regular expression: ${why}`, { cause });
  }
}

function readList(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const closed = code === 'EACCES' ? closedDirectory(path) : undefined;
    // Node names the file that it cannot open, but not the one that it cannot read.
    const what = message.includes(path) ? message : `${message} '${path}'`;
    throw new CniError(CNI_CODE.IO_FAILURE, `read the list of allowed sysctls: ${what}`, {
      cause,
      ...(closed !== undefined && {
        cniDetails: `directory ${closed} may not be entered: it lacks the x permission`,
      }),
    });
  }
}

/** The outermost directory on the way to a file that may not be entered. */
function closedDirectory(path: string): string | undefined {
  const directory = dirname(path);
  const outer = directory === path ? undefined : closedDirectory(directory);
  if (outer !== undefined || directory === path) return outer;
  try {
    // Looking at something inside takes the x permission; access(2) would ask for the real user's.
    statSync(`${directory}/.`);
    return undefined;
  } catch {
    return directory;
  }
}
