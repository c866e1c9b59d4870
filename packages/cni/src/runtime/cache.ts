/**
 * The result cache: for each attachment what ADD was told and what it answered, so that CHECK, DEL and GC can
 * be told the same. Directory, names and bytes are libcni's: the two can take over from one another at any time.
 *
 * A file appears whole or not at all. Reading is tolerant: what another program left half-written must never
 * keep an attachment from being deleted.
 */

import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '@heddle/sys';
import {
  type AttachmentId,
  CNI_CODE,
  CniError,
  convertResult,
  DecodeError,
  parseJson,
  parseResult,
  type Result,
  validateAttachment,
} from '../index.ts';
import { type CacheEntry, decodeEntry, encodeEntry } from './cache-entry.ts';
import { ioFailure, isMissing } from './io-failure.ts';

/** An attachment that the cache knows. */
export interface CachedAttachment extends CacheEntry {
  /** When ADD was done, in milliseconds since the epoch. */
  readonly addedAt: number;
}

/** The cache in a directory, usually /var/lib/cni. */
export class ResultCache {
  readonly #directory: string;
  readonly #results: string;

  constructor(directory: string) {
    this.#directory = directory;
    this.#results = join(directory, 'results');
  }

  /**
   * The file of an attachment.
   *
   * @throws {CniError} when a part is empty, or could lead out of the directory.
   */
  path(id: AttachmentId): string {
    const { network, containerID, ifName } = id;
    if (network === '' || containerID === '' || ifName === '') {
      throw new CniError(
        CNI_CODE.INVALID_ENVIRONMENT,
        `cache file path requires network name ("${network}"), container ID ("${containerID}"), and interface name ("${ifName}")`,
      );
    }
    validateAttachment(id);
    return join(this.#results, `${network}-${containerID}-${ifName}`);
  }

  /**
   * Keeps an attachment.
   *
   * @throws {CniError} when it cannot be written.
   */
  write(entry: CacheEntry): void {
    const path = this.path(entry);
    try {
      makeDirectory(this.#results, 0o700);
      removeLeftScratch(this.#directory);
      // Not among the results: a program that lists those would take it for an attachment.
      const scratch = mkdtempSync(join(this.#directory, SCRATCH));
      try {
        const temporary = join(scratch, 'new');
        writeFileSync(temporary, encodeEntry(entry), { mode: 0o600, flush: true });
        renameSync(temporary, path);
        syncDirectory(this.#results);
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    } catch (error) {
      throw ioFailure(`failed to set network "${entry.network}" cached result`, error);
    }
  }

  /**
   * What is kept of an attachment; `undefined` when nothing is.
   *
   * @throws {DecodeError} when the file is no cache entry.
   */
  read(id: AttachmentId): CacheEntry | undefined {
    const text = readIfThere(this.path(id));
    if (text === undefined) return undefined;
    return decodeEntry(text, `failed to unmarshal cached network "${id.network}" config`);
  }

  /**
   * The final result of ADD, converted to `version`; `undefined` when there is none. A file of libcni before
   * 0.8, which holds nothing but the result, is understood.
   *
   * @throws {DecodeError|CniError} when it is no result, or cannot be converted.
   */
  result(id: AttachmentId, version: string): Result | undefined {
    const text = readIfThere(this.path(id));
    if (text === undefined) return undefined;
    try {
      const json = resultIn(text);
      return json === undefined ? undefined : convertResult(parseResult(json, { version }), version);
    } catch (error) {
      if (!(error instanceof CniError)) throw error;
      const msg = `failed to get network "${id.network}" cached result: ${error.msg}`;
      const { cniDetails } = error;
      throw new CniError(error.cniCode, msg, {
        cause: error,
        ...(cniDetails !== undefined && { cniDetails }),
      });
    }
  }

  /** Forgets an attachment, whatever is there in the place of its file. */
  remove(id: AttachmentId): void {
    try {
      rmSync(this.path(id), { recursive: true, force: true });
    } catch (error) {
      throw ioFailure(`failed to remove network "${id.network}" cached result`, error);
    }
  }

  /**
   * The attachments, ordered by file name; those of one container when that is given. Files that are no cache
   * entries are passed over, a missing directory has none.
   */
  attachments(containerID?: string): readonly CachedAttachment[] {
    return this.#names()
      .filter((name) => containerID === undefined || name.includes(`-${containerID}-`))
      .flatMap((name) => this.#attachment(name))
      .filter((attachment) => containerID === undefined || attachment.containerID === containerID);
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#results).toSorted();
    } catch (error) {
      if (isMissing(error)) return [];
      throw ioFailure('list the result cache', error);
    }
  }

  #attachment(name: string): readonly CachedAttachment[] {
    const path = join(this.#results, name);
    try {
      const entry = decodeEntry(readFileSync(path, 'utf8'), 'read a cache entry');
      const isComplete = entry.network !== '' && entry.ifName !== '';
      return isComplete ? [{ ...entry, addedAt: statSync(path).mtimeMs }] : [];
    } catch {
      return [];
    }
  }
}

const SCRATCH = '.result-';
/** Nobody writes one entry for so long; milliseconds. */
const LEFT_AFTER = 3_600_000;

/** What processes that were killed while they wrote have left; what is younger, somebody may be writing. */
function removeLeftScratch(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isDirectory() || !/^\.result-[A-Za-z0-9]{6}$/.test(entry.name)) continue;
    const path = join(directory, entry.name);
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined || Date.now() - status.mtimeMs < LEFT_AFTER) continue;
    rmSync(path, { recursive: true, force: true });
  }
}

/** As the reference: a file that cannot be read is no file. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function resultIn(text: string): unknown {
  try {
    return decodeEntry(text, '').result;
  } catch (error) {
    if (error instanceof DecodeError) return parseJson(text);
    throw error;
  }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
