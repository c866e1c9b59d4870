/**
 * Marks of attachments whose ADD is under way, for plugins: GC must not take what such an ADD has just made.
 * A mark is a file with a lock on it, so the mark of a process that was killed counts no more.
 */
import { existsSync, readdirSync } from 'node:fs';
import { flock, O, openFile, SysError } from '@heddle/sys';
import type { InflightPort } from '../plugin/host.ts';
import { ioFailure, isMissing } from './io-failure.ts';
import { lockFileSync, removeLockFile } from './lock-file.ts';

/**
 * Marks as files in a directory, usually /run/heddle/adding. Several marks of one key may exist at a time.
 *
 * @example
 * using mark = marks.begin(tagKey(ownerTag(attachment)));
 */
export class InflightMarks implements InflightPort {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  begin(key: string): Disposable {
    const path = `${this.#directory}/${fileName(key)}`;
    const file = lockFileSync(path, 'shared');
    return { [Symbol.dispose]: () => removeLockFile(file, path) };
  }

  forget(key: string): void {
    this.#isHeld(fileName(key));
  }

  list(): ReadonlySet<string> {
    return new Set(
      this.#names()
        .filter((name) => this.#isHeld(name))
        .map(decodeURIComponent),
    );
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#directory);
    } catch (error) {
      if (isMissing(error)) return [];
      throw ioFailure('list the attachments that are being added', error);
    }
  }

  /** Removes a mark that nobody holds any more. */
  #isHeld(name: string): boolean {
    const path = `${this.#directory}/${name}`;
    // Mostly there is none, and an exception costs more than the look.
    if (!existsSync(path)) return false;
    try {
      const file = openFile(path, O.RDWR);
      const held = !flock(file, 'exclusive', { nonblocking: true });
      if (held) file.close();
      else removeLockFile(file, path);
      return held;
    } catch (error) {
      if (SysError.is(error, 'ENOENT')) return false;
      throw error;
    }
  }
}

function fileName(key: string): string {
  return encodeURIComponent(key);
}
