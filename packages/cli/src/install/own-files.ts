/** The record and the lock of a plugin directory. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { flock, O, openFile } from '@heddle/sys';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';
import { makeOpenDirectory } from './open-directory.ts';
import { EMPTY_RECORD, type InstallRecord, parseRecord, RECORD_NAME } from './record.ts';

/**
 * What Heddle has installed in a directory.
 *
 * @throws {DecodeError} when the record is damaged
 */
export function readRecord(directory: string): InstallRecord {
  const path = join(directory, RECORD_NAME);
  try {
    return parseRecord(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return EMPTY_RECORD;
    throw error;
  }
}

/**
 * Keeps other installations out of a directory, which is made when it is not there.
 *
 * @throws {CommandError} when another one is at work
 */
export function installLock(directory: string): Disposable {
  makeOpenDirectory(directory);
  const lock = openFile(directory, O.RDONLY | O.DIRECTORY);
  if (flock(lock, 'exclusive', { nonblocking: true })) return lock;
  lock.close();
  throw new CommandError(EXIT.FAILED, `another installation is at work in ${directory}`, {
    hint: 'try again when it is done',
  });
}
