/**
 * The configurations that delegates were given, in files: `<data directory>/<container ID>`, in the reference's place
 * and form, so that either can take down what the other set up. The daemon may have been given another subnet since,
 * and the operator may have changed the network.
 */

import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { CNI_CODE, CniError, goJson, isJsonObject, type JsonObject, parseJson } from '@heddle/cni';
import { makeDirectory } from '@heddle/sys';

/** One file. */
export interface SavedConfig {
  readonly containerID: string;
  /** What the delegate was given; `undefined` when the file does not say. */
  readonly config: JsonObject | undefined;
}

/** The files of one data directory. Every method throws a `CniError` with code 5 when the disk does not obey. */
export class SavedConfigs {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** A container's file; `undefined` when there is none. */
  find(containerID: string): SavedConfig | undefined {
    const text = this.#read(containerID);
    return text === undefined ? undefined : { containerID, config: parse(text) };
  }

  /** All files. */
  list(): readonly SavedConfig[] {
    return this.#names().flatMap((name) => this.find(name) ?? []);
  }

  /**
   * Writes a container's file, all of it or nothing, and onto the disk.
   *
   * @returns how to take that back: what was there before is there again
   */
  save(containerID: string, config: JsonObject): () => void {
    const before = this.#read(containerID);
    this.#write(containerID, goJson(config));
    return () => (before === undefined ? this.remove(containerID) : this.#write(containerID, before));
  }

  /** Removes a container's file, if it is there. */
  remove(containerID: string): void {
    const path = this.#path(containerID);
    attempt(`remove ${path}`, () => rmSync(path, { force: true }));
  }

  /** Removes what a `save` that was killed has left of a container's file. */
  tidy(containerID: string): void {
    const path = this.#unfinished(containerID);
    attempt(`remove the unfinished ${path}`, () => rmSync(path, { force: true }));
  }

  #names(): readonly string[] {
    const directory = this.#directory;
    const names = attempt(`read ${directory}`, () => readdirSync(directory, { withFileTypes: true })) ?? [];
    // A container's ID does not begin with a dot; an unfinished file does.
    return names.flatMap((entry) => (entry.isFile() && !entry.name.startsWith('.') ? [entry.name] : []));
  }

  #read(containerID: string): string | undefined {
    const path = this.#path(containerID);
    return attempt(`read ${path}`, () => readFileSync(path, 'utf8'));
  }

  #write(containerID: string, text: string): void {
    const path = this.#path(containerID);
    const unfinished = this.#unfinished(containerID);
    attempt(`write ${path}`, () => {
      makeDirectory(this.#directory, 0o700);
      try {
        const file = openSync(unfinished, 'w', 0o600);
        try {
          writeFileSync(file, text);
          fsyncSync(file);
        } finally {
          closeSync(file);
        }
        renameSync(unfinished, path);
      } catch (error) {
        rmSync(unfinished, { force: true });
        throw error;
      }
    });
  }

  #unfinished(containerID: string): string {
    return this.#path(`.${containerID}.new`);
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

function parse(text: string): JsonObject | undefined {
  try {
    const config = parseJson(text);
    return isJsonObject(config) ? config : undefined;
  } catch {
    return undefined;
  }
}

/** What `run` gives; `undefined` when the file is not there. */
function attempt<T>(what: string, run: () => T): T | undefined {
  try {
    return run();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CniError(CNI_CODE.IO_FAILURE, `${what}: ${why}`, { cause });
  }
}
