/**
 * The machine as plugins under test see it: their writes below /etc, /var/lib, /var/log and /run go to memory, and are
 * gone with this process. What the machine has of CNI is hidden.
 */
import { mkdirSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  enterPrivateMounts,
  makeDirectory,
  mountOverlay,
  mountTmpfs,
  SysError,
  setReadOnly,
  unmount,
} from '@heddle/sys';
import { KitError } from '../failure.ts';
import { Janitor } from './janitor.ts';

/** Where plugins keep what outlives a call, unless they are told otherwise. */
export const DATA_DIRECTORIES = ['/var/lib/cni', '/run'] as const;

/** Directories in which what plugins write is found again. */
const LAYERED = ['/etc', '/var/lib', '/var/log'] as const;
/** What is empty at first. */
const HIDDEN = ['/run', '/etc/cni', '/var/lib/cni', '/var/lib/heddle'] as const;
const ROOM = 64 * 1024 * 1024;
/** For the kit's own files: in memory too, so that nothing is left of them however this process ends. */
export const OWN_DIRECTORY = '/run/heddle-conformance';
/** What the house itself, and those who live in it, have there. */
const KEPT: readonly string[] = [OWN_DIRECTORY, '/run/netns', '/run/lock'];

/** See the file's comment. There is one for each process, for it never leaves these mounts. */
export class House implements Disposable {
  /** An empty directory for the kit's own files. */
  readonly directory = OWN_DIRECTORY;
  readonly #janitor = new Janitor();

  private constructor() {}

  /**
   * Moves this process into mounts of its own.
   *
   * @param needed files that must still be there
   * @throws {KitError} without root, or when one of those files would be hidden
   */
  static enter(needed: readonly string[]): House {
    for (const path of needed.map((each) => realpathSync(each))) {
      const hidden = HIDDEN.find((directory) => path.startsWith(`${directory}/`));
      if (hidden === undefined) continue;
      throw new KitError(`${path} is below ${hidden}, which plugins under test see empty`, {
        hint: 'copy it to another directory',
      });
    }
    try {
      enterPrivateMounts();
    } catch (error) {
      if (!SysError.is(error, 'EPERM')) throw error;
      throw new KitError('no permission to make mount and network namespaces', {
        cause: error,
        hint: 'run it as root',
      });
    }
    mountTmpfs('/run', { size: ROOM });
    mkdirSync(OWN_DIRECTORY);
    mountTmpfs(OWN_DIRECTORY);
    const house = new House();
    for (const target of LAYERED) house.#layer(target);
    for (const target of HIDDEN) {
      if (target === '/run') continue;
      makeDirectory(target);
      mountTmpfs(target, { size: ROOM });
    }
    // iptables and others expect to find it.
    mkdirSync('/run/lock');
    return house;
  }

  /** Where to look for what plugins have written. */
  get written(): readonly string[] {
    return [...LAYERED.map((target) => this.#upper(target)), ...HIDDEN];
  }

  /** Takes away what plugins have written into the directories that are empty at first, for a node where none has run yet. */
  forget(): void {
    for (const directory of HIDDEN) {
      for (const name of readdirSync(directory)) {
        const path = join(directory, name);
        if (!KEPT.includes(path)) rmSync(path, { recursive: true });
      }
    }
  }

  /** Fills the data directories, for as long as the result is not disposed of. */
  fillDisks(): Disposable {
    const fillers = DATA_DIRECTORIES.map((directory) => join(directory, '.filler'));
    for (const filler of fillers) fill(filler);
    return {
      [Symbol.dispose]: () => {
        for (const filler of fillers) rmSync(filler, { force: true });
      },
    };
  }

  /** Makes the data directories read-only, for as long as the result is not disposed of. */
  lockDisks(): Disposable {
    for (const directory of DATA_DIRECTORIES) setReadOnly(directory, true);
    return {
      [Symbol.dispose]: () => {
        for (const directory of DATA_DIRECTORIES) setReadOnly(directory, false);
      },
    };
  }

  /** Leaves nothing outside of the private mounts, and nobody in them. */
  [Symbol.dispose](): void {
    this.#janitor[Symbol.dispose]();
    const layers = [...HIDDEN.filter((target) => target !== '/run'), ...LAYERED];
    for (const target of [...layers, OWN_DIRECTORY, '/run']) unmount(target);
  }

  #layer(target: string): void {
    if (!statSync(target, { throwIfNoEntry: false })?.isDirectory()) return;
    const work = join(this.directory, 'work', target);
    for (const directory of [this.#upper(target), work]) makeDirectory(directory);
    mountOverlay(target, this.#upper(target), work);
  }

  #upper(target: string): string {
    return join(this.directory, 'upper', target);
  }
}

function fill(path: string): void {
  for (let chunk = 1024 * 1024; chunk >= 1; chunk = Math.floor(chunk / 16)) {
    const bytes = new Uint8Array(chunk);
    try {
      for (;;) writeFileSync(path, bytes, { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}
