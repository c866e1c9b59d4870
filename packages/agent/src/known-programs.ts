/**
 * Plugins' executables that were found before. Whether a file is a program for this machine, and may be executed, can only
 * change with its inode, or with the time of the inode's last change — inode(7): one look tells that nothing has.
 */
import { type Stats, statSync } from 'node:fs';

/** What has been found, by path. */
export class KnownPrograms {
  readonly #known = new Map<string, Stats>();

  /**
   * The program of a type.
   *
   * @param path directories, of which the first that has it counts
   * @param find looks for it, and throws where there is none
   */
  find(type: string, path: readonly string[], find: () => string): string {
    const first = `${path[0]}/${type}`;
    if (this.#isAsItWas(first)) return first;
    this.#known.delete(first);
    const before = lookAt(first);
    const found = find();
    // What is found further on counts only as long as nothing of that name comes before it.
    if (found === first && before !== undefined && this.#known.size < MOST) this.#known.set(first, before);
    return found;
  }

  #isAsItWas(path: string): boolean {
    const before = this.#known.get(path);
    if (before === undefined) return false;
    const now = lookAt(path);
    return now !== undefined && LOOKED_AT.every((what) => now[what] === before[what]);
  }
}

const LOOKED_AT = ['dev', 'ino', 'ctimeMs', 'size', 'mode', 'uid', 'gid'] as const;
/** The names of a directory of plugins, several times over. */
const MOST = 256;

function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
