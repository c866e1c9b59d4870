/** Where a lock may be written, and how. */
import { randomBytes } from 'node:crypto';
import { readFileSync, realpathSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseLock } from '@heddle/doctor';
import type { Cli } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';
import { configDir } from '../request/environment.ts';

/**
 * Keeps a lock from becoming a network, and from taking the place of something else.
 *
 * @throws {CommandError} for a path in the directory of networks, and for one where something is that is no lock
 */
export function refusePlace(cli: Pick<Cli, 'env' | 'places'>, path: string): void {
  const target = real(path);
  for (const networks of [configDir(cli), cli.places.configDir]) {
    if (!target.startsWith(`${real(networks)}/`)) continue;
    throw new CommandError(
      EXIT.USAGE,
      `lock: ${path} would be in the directory of networks, where runtimes read it as one`,
      { hint: 'write it elsewhere, such as heddle lock --file /etc/heddle/lock.json' },
    );
  }
  if (isFree(target)) return;
  throw new CommandError(EXIT.USAGE, `lock: ${path} is there already, and is no lock`, {
    hint: 'give another name with --file, or remove it',
  });
}

/**
 * Writes it: the old file or the new one is there, whatever happens. A link goes on leading to it.
 *
 * @throws {CommandError} when it cannot be written
 */
export function writeLock(path: string, text: string): void {
  const target = real(path);
  const temporary = `${target}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(temporary, text, { mode: 0o644, flag: 'wx', flush: true });
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? `there is no directory ${dirname(target)}` : message;
    throw new CommandError(EXIT.FAILED, `cannot write ${path}: ${why}`, { cause: error });
  }
}

/** Whether nothing is lost when a lock is written there: nothing is there, an empty file or a lock. */
function isFree(path: string): boolean {
  const found = factsOf(path);
  if (found === undefined || (found.isFile() && found.size === 0)) return true;
  if (!found.isFile()) return false;
  try {
    parseLock(readFileSync(path, 'utf8'), path);
    return true;
  } catch {
    return false;
  }
}

/** Nothing where it cannot be told, too: to write there fails then, and says why. */
function factsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The path without links, as far as it is there. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(real(parent), basename(path));
  }
}
